#include "formats/llama2c.h"

#include <gtest/gtest.h>

#include "formats/tensor_table.h"
#include "testing/allocation_watch.h"
#include "testing/expect_error.h"
#include "testing/gguf_writer.h"
#include "testing/index_rules.h"

namespace vitro {
namespace {

using testing::as_bytes;
using testing::expect_error;

/// dim 8, hidden 12, 2 layers, 4 heads of 2, 2 kv heads, seq_len 3; every float is its own index in the file.
std::string small_file(int32_t vocab_size) {
  const int64_t vocab = std::abs(vocab_size);
  const int64_t layer = 8 + 8 * 8 + 4 * 8 + 4 * 8 + 8 * 8 + 8 + 3 * 12 * 8;
  const int64_t n_floats = vocab * 8 + 2 * layer + 8 + 2 * 3 * 1 + (vocab_size < 0 ? vocab * 8 : 0);
  std::vector<float> floats;
  for (int64_t i = 0; i < n_floats; ++i) floats.push_back(static_cast<float>(i));
  return testing::bytes_of(std::vector<int32_t>{8, 12, 2, 4, 2, vocab_size, 3}) + testing::bytes_of(floats);
}

/// Index of the tensor's first float, counted from the end of the header.
int64_t first_float(const Llama2cFile& file, std::string_view name) {
  const WeightEntry* entry = find_entry(file.tensors, name);
  return entry == nullptr ? -1 : static_cast<int64_t>(entry->begin - 28) / 4;
}

TEST(Llama2c, ListsEveryLayersSlice) {
  const std::string bytes = small_file(10);
  const auto file = read_llama2c(as_bytes(bytes), "s.bin");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->tensors.size(), 2u + 2 * 9);
  EXPECT_EQ(testing::broken_rule(file->tensors, bytes.size()), "");
  // run.c: embedding 80, attention norms 2 x 8, wq 2 x 64, wk 2 x 32, wv 2 x 32, wo 2 x 64, ffn norms 2 x 8, w1, w2, w3
  // 2 x 96, norm.
  EXPECT_EQ(first_float(*file, "tok_embeddings.weight"), 0);
  EXPECT_EQ(first_float(*file, "layers.1.attention_norm.weight"), 88);
  EXPECT_EQ(first_float(*file, "layers.0.attention.wq.weight"), 96);
  EXPECT_EQ(first_float(*file, "layers.1.attention.wk.weight"), 256);
  EXPECT_EQ(first_float(*file, "layers.0.attention.wv.weight"), 288);
  EXPECT_EQ(first_float(*file, "layers.1.attention.wo.weight"), 416);
  EXPECT_EQ(first_float(*file, "layers.0.ffn_norm.weight"), 480);
  EXPECT_EQ(first_float(*file, "layers.1.feed_forward.w1.weight"), 592);
  EXPECT_EQ(first_float(*file, "layers.0.feed_forward.w2.weight"), 688);
  EXPECT_EQ(first_float(*file, "layers.1.feed_forward.w3.weight"), 976);
  EXPECT_EQ(first_float(*file, "norm.weight"), 1072);
  EXPECT_EQ(first_float(*file, "output.weight"), -1);
  EXPECT_EQ(find_entry(file->tensors, "layers.0.attention.wk.weight")->shape, (Shape{4, 8}));
  EXPECT_EQ(find_entry(file->tensors, "layers.0.feed_forward.w2.weight")->shape, (Shape{8, 12}));
  EXPECT_EQ(
      to_string(file->config),
      R"({"dim":8,"hidden_dim":12,"n_layers":2,"n_heads":4,"n_kv_heads":2,"vocab_size":10,"seq_len":3,"shared_classifier":true})");
}

TEST(Llama2c, ANegativeVocabularyMeansAnOutputOfItsOwn) {
  const auto file = read_llama2c(as_bytes(small_file(-10)), "s.bin");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(first_float(*file, "output.weight"), 1080 + 6);
  EXPECT_EQ(*file->config.find("vocab_size")->as_int(), 10);
  EXPECT_EQ(*file->config.find("shared_classifier")->as_bool(), false);
}

TEST(Llama2c, TheFileIsExactlyAsLongAsTheHeaderSays) {
  const std::string bytes = small_file(10);
  for (size_t n = 0; n < bytes.size(); n += n < 40 ? 1 : 37) {
    expect_error(read_llama2c(as_bytes(bytes.substr(0, n)), "s.bin"), ErrorCode::kCorrupt, "[llama2.c] s.bin: ");
  }
  expect_error(read_llama2c(as_bytes(bytes + "x"), "s.bin"), ErrorCode::kCorrupt, "bytes, the file has");
}

TEST(Llama2c, HostileHeadersAreRefusedCheaply) {
  for (size_t field = 0; field < 7; ++field) {
    for (const int32_t value : {0, -1, 1, 7, 3, 10001, 1 << 24, INT32_MAX, INT32_MIN}) {
      std::string bytes = small_file(10);
      if (std::memcmp(bytes.data() + field * 4, &value, 4) == 0) continue;
      bytes.replace(field * 4, 4, reinterpret_cast<const char*>(&value), 4);
      SCOPED_TRACE(::testing::Message() << "field " << field << " = " << value);
      testing::AllocationWatch watch;
      const auto file = read_llama2c(as_bytes(bytes), "s.bin");
      EXPECT_LE(watch.largest(), 32u << 20);
      expect_error(file, ErrorCode::kCorrupt, "[llama2.c] s.bin: ");
    }
  }
}

}  // namespace
}  // namespace vitro
