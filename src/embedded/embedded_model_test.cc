#include "embedded/embedded_model.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "testing/shared_data.h"

namespace vitro {
namespace {

std::string committed(const std::string& name) {
  std::ifstream file(testing::repo_path("assets/embedded/" + name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(EmbeddedModel, HoldsTheCommittedFiles) {
  const std::span<const std::byte> weights = embedded_weights();
  EXPECT_EQ(embedded_config(), committed("config.json"));
  EXPECT_EQ(embedded_tokenizer(), committed("tokenizer.json"));
  EXPECT_TRUE((std::string_view(reinterpret_cast<const char*>(weights.data()), weights.size()) ==
               committed("model.safetensors")));
  EXPECT_GT(weights.size(), size_t{1} << 20);
}

TEST(EmbeddedModel, OpensWhereItLies) {
  const auto checkpoint = open_embedded_checkpoint();
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  ASSERT_TRUE(checkpoint->has_weights());
  EXPECT_EQ(checkpoint->file_bytes(), embedded_weights().size());
  for (const WeightEntry& entry : checkpoint->tensors()) {
    const std::byte* data = checkpoint->view(entry).bytes().data();
    EXPECT_TRUE(data >= embedded_weights().data() && data < embedded_weights().data() + embedded_weights().size());
    checkpoint->release(entry, 0, entry.end - entry.begin);
  }
}

TEST(EmbeddedModel, BytesInMemoryAreCheckedAsFilesAre) {
  const auto cut = Checkpoint::open(MemoryFolder{"here", embedded_config(), embedded_weights().first(100000)});
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(cut.error().message.find("here/model.safetensors"), std::string::npos) << cut.error().message;
  const auto list = Checkpoint::open(MemoryFolder{"here", "[]", embedded_weights()});
  ASSERT_FALSE(list);
  EXPECT_NE(list.error().message.find("here/config.json"), std::string::npos) << list.error().message;
}

TEST(EmbeddedModel, EveryIdOfTheModelIsAToken) {
  const auto checkpoint = open_embedded_checkpoint();
  const auto tokenizer = load_embedded_tokenizer();
  ASSERT_TRUE(checkpoint && tokenizer);
  const Value* vocab_size = checkpoint->config().find("vocab_size");
  ASSERT_TRUE(vocab_size && vocab_size->as_int());
  EXPECT_EQ((*tokenizer)->vocab_size(), *vocab_size->as_int());
  EXPECT_EQ((*tokenizer)->piece(0), "<|endoftext|>");
}

}  // namespace
}  // namespace vitro
