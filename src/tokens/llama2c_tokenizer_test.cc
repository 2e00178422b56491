// llama2.c's tokenizer file: written from the SentencePiece model of the test data (its encoding is the same
// algorithm), the real one of the shared folder, and broken files.
#include <gtest/gtest.h>

#include <filesystem>

#include "testing/expect_error.h"
#include "testing/temp_folder.h"
#include "tokens/tokens_test_util.h"

namespace vitro {
namespace {

using testing::ids_of;

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

/// As llama2.c's tokenizer.py exports: spaces for the mark, BOS and EOS between line ends.
std::string export_file(const Value& data) {
  std::string body;
  int32_t longest = 0;
  const Value::Array& tokens = *data.find("tokens")->as_array();
  for (size_t id = 0; id < tokens.size(); ++id) {
    std::string piece = *tokens[id].as_string();
    if (id == 1 || id == 2) piece = "\n" + piece + "\n";
    for (size_t pos = 0; (pos = piece.find("\u2581", pos)) != std::string::npos;) piece.replace(pos, 3, " ");
    const Value& score = (*data.find("scores")->as_array())[id];
    put(body, static_cast<float>(score.as_real() != nullptr ? *score.as_real() : static_cast<double>(*score.as_int())));
    put(body, static_cast<int32_t>(piece.size()));
    body += piece;
    longest = std::max(longest, static_cast<int32_t>(piece.size()));
  }
  std::string out;
  put(out, longest);
  return out + body;
}

Result<std::unique_ptr<Tokenizer>> load(const std::string& bytes, int64_t vocab_size) {
  const testing::TempFolder folder;
  const std::filesystem::path path = folder.path() / "tokenizer.bin";
  std::ofstream(path, std::ios::binary) << bytes;
  return load_llama2c_tokenizer(path, vocab_size);
}

class Llama2cTokenizer : public ::testing::Test {
 protected:
  Value data_ = testing::json_file(testing::token_data("sentencepiece.json"));
  std::string bytes_ = export_file(data_);
  int64_t n_ = static_cast<int64_t>(data_.find("tokens")->as_array()->size());
};

TEST_F(Llama2cTokenizer, EqualsSentencePieceWithBos) {
  const auto tokenizer = load(bytes_, n_);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  for (const Value& row : *data_.find("rows")->as_array()) {
    const std::string& text = *row.find("text")->as_string();
    if (text.find("\u2581") != std::string::npos) continue;  // the mark is not in this file
    std::vector<TokenId> expected = ids_of(*row.find("ids"));
    expected.insert(expected.begin(), 1);
    const Result<Encoding> got = (*tokenizer)->encode(text);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->ids, expected) << text;
    EXPECT_EQ((*tokenizer)->decode(got->ids, true), text);
  }
}

TEST_F(Llama2cTokenizer, BrokenFilesAreRefused) {
  EXPECT_EQ(load(bytes_, n_ + 1).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(load(bytes_, n_ - 1).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(load(bytes_, 10).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(load(bytes_, -1).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(load(bytes_, int64_t{1} << 60).error().code, ErrorCode::kCorrupt);
  for (size_t n = 0; n < bytes_.size(); n += 97) EXPECT_FALSE(load(bytes_.substr(0, n), n_)) << n;
  std::string negative = bytes_;
  const int32_t length = -5;
  negative.replace(8, 4, reinterpret_cast<const char*>(&length), 4);
  EXPECT_EQ(load(negative, n_).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(load_llama2c_tokenizer("/no/such/file", n_).error().code, ErrorCode::kNotFound);
}

TEST_F(Llama2cTokenizer, TakesNoMoreOfAHugeFile) {
  const testing::TempFolder folder;
  std::ofstream(folder.path() / "t.bin", std::ios::binary) << bytes_;
  std::filesystem::resize_file(folder.path() / "t.bin", uint64_t{1} << 40);  // a hole: it takes no room
  testing::expect_error(load_llama2c_tokenizer(folder.path() / "t.bin", n_), ErrorCode::kCorrupt,
                        "at most 67108864 bytes expected");
}

TEST(Llama2cTokenizerShared, RealFileReadsStories) {
  const auto path = testing::shared_path("data/weights/stories260K/tok512.bin");
  if (!path) GTEST_SKIP() << "no shared folder";
  const auto tokenizer = load_llama2c_tokenizer(*path, 512);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  for (const std::string text :
       {"Once upon a time, there was a little girl named Lily.", "", " two  spaces", "caf\u00E9 \U0001F600\n"}) {
    const Result<Encoding> got = (*tokenizer)->encode(text);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->ids.front(), 1);
    EXPECT_EQ((*tokenizer)->decode(got->ids, true), text);
  }
}

}  // namespace
}  // namespace vitro
