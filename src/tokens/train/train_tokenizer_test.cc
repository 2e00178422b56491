// What the reference does not say: how files are cut into words, hostile files, options that mean nothing.
#include "tokens/train/train_tokenizer.h"

#include <gtest/gtest.h>

#include <fstream>

#include "testing/temp_folder.h"
#include "tokens/tokens_test_util.h"
#include "tokens/train/seed_pieces.h"

namespace vitro {
namespace {

using testing::json_of;

void ignore_progress(std::string_view, int64_t, int64_t) {}

class TrainTokenizer : public ::testing::Test {
 protected:
  Result<TrainedTokenizer> train(std::string_view contents, const TokenizerTraining& training) {
    std::ofstream(path_, std::ios::binary) << contents;
    return train_tokenizer({path_}, training, ignore_progress);
  }
  std::vector<std::pair<std::string, uint64_t>> words_of(std::string_view contents, const WordSplitter& splitter) {
    std::ofstream(path_, std::ios::binary) << contents;
    const auto words = count_words({path_}, splitter, ignore_progress);
    EXPECT_TRUE(words);
    std::vector<std::pair<std::string, uint64_t>> out;
    for (size_t i = 0; i < words->size(); ++i) out.emplace_back(words->word(i), words->count(i));
    return out;
  }

  const testing::TempFolder temp_;
  const std::filesystem::path path_ = temp_.path() / "text";
};

WordSplitter gpt2_splitter() { return *read_splitter(*make_recipe({.model = TrainedModel::kBpe})); }

TEST_F(TrainTokenizer, CountsWordsLineByLineInTheOrderOfTheText) {
  using Words = std::vector<std::pair<std::string, uint64_t>>;
  // White space at the end of a line ends at the line's end: no word goes on to the next line.
  EXPECT_EQ(words_of("b a\n\nb a \r\nend", gpt2_splitter()),
            (Words{{"b", 2}, {"Ġa", 2}, {"Ċ", 2}, {"ĠčĊ", 1}, {"end", 1}}));
  EXPECT_EQ(words_of("", gpt2_splitter()), Words{});
  EXPECT_EQ(words_of("a b\nc", WordSplitter{}), (Words{{"a b\n", 1}, {"c", 1}}));
}

TEST_F(TrainTokenizer, BrokenBytesCountAsReplacementCharacters) {
  EXPECT_EQ(words_of("a\xff\xc3", WordSplitter{}),
            (std::vector<std::pair<std::string, uint64_t>>{{"a\uFFFD\uFFFD", 1}}));
}

TEST_F(TrainTokenizer, CutsEndlessLinesAtCharacters) {
  const std::string unit = "ab\u00e9";  // four bytes: the cut falls inside the last character of some unit
  std::string line = "x";
  while (line.size() < kMaxLineBytes + 1000) line += unit;
  const auto words = words_of(line, WordSplitter{});
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(words[0].first + words[1].first, line);
  EXPECT_LE(words[0].first.size(), kMaxLineBytes + (size_t{1} << 20));
}

TEST_F(TrainTokenizer, LongRunsAndBinaryAreFine) {
  const TokenizerTraining bpe{.vocab_size = 300};
  const auto run = train(std::string(200'000, 'a'), bpe);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->n_words, 1U);
  std::string binary;
  uint32_t state = 1;
  for (int i = 0; i < 100'000; ++i) binary += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  for (const TrainedModel model : {TrainedModel::kBpe, TrainedModel::kUnigram}) {
    TokenizerTraining training{.model = model, .vocab_size = 4000, .normalizer = "none"};
    const auto trained = train(binary, training);
    ASSERT_TRUE(trained) << trained.error().message;
    EXPECT_TRUE(parse_tokenizer(trained->json, "trained"));
  }
}

TEST_F(TrainTokenizer, SaysWhyItCannot) {
  const auto empty = train("", {});
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ErrorCode::kInvalidArgument);
  const auto missing = train_tokenizer({path_, "/no/such/file"}, {}, ignore_progress);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  const auto folder = train_tokenizer({temp_.path()}, {}, ignore_progress);
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, ErrorCode::kInvalidArgument);
  const auto small = train("abcdefgh", {.model = TrainedModel::kUnigram, .vocab_size = 5, .normalizer = "none"});
  ASSERT_FALSE(small);
  EXPECT_NE(small.error().message.find("at least 10 are needed"), std::string::npos) << small.error().message;
}

TEST_F(TrainTokenizer, RefusesWhatItWouldIgnore) {
  const std::vector<TokenizerTraining> useless = {
      {.model = TrainedModel::kUnigram, .pattern = "gpt2"},
      {.model = TrainedModel::kWordPiece, .pattern = "gpt2"},
      {.model = TrainedModel::kUnigram, .min_frequency = 2},
      {.model = TrainedModel::kUnigram, .limit_alphabet = 10},
      {.model = TrainedModel::kBpe, .limit_alphabet = 1000},
      {.model = TrainedModel::kWordPiece, .max_token_length = 10},
      {.special_tokens = {""}},
      {.normalizer = "nfq"},
      {.pattern = "llama-bqe"},
  };
  for (const TokenizerTraining& training : useless) {
    const auto recipe = make_recipe(training);
    ASSERT_FALSE(recipe);
    EXPECT_EQ(recipe.error().code, ErrorCode::kInvalidArgument) << recipe.error().message;
  }
  EXPECT_FALSE(make_recipe({.pattern = "(a"}));
}

TEST_F(TrainTokenizer, TheSameTextGivesTheSameFile) {
  const std::string text = testing::read_text(testing::repo_path("tests/data/real/text.txt"));
  for (const TrainedModel model : {TrainedModel::kBpe, TrainedModel::kUnigram}) {
    const TokenizerTraining training{.model = model, .vocab_size = 400, .normalizer = "none"};
    const auto first = train(text, training);
    const auto second = train(text, training);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->json, second->json);
  }
}

TEST_F(TrainTokenizer, DecodesWhatItEncodes) {
  const std::string text = testing::read_text(testing::repo_path("tests/data/real/text.txt"));
  for (const char* pattern : {"", "qwen2", "gpt-4o"}) {
    const auto trained = train(text, {.vocab_size = 600, .special_tokens = {"<|end|>"}, .pattern = pattern});
    ASSERT_TRUE(trained) << trained.error().message;
    const auto tokenizer = parse_tokenizer(trained->json, "trained");
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    const auto encoding = (*tokenizer)->encode(text + "<|end|>");
    ASSERT_TRUE(encoding);
    EXPECT_EQ(encoding->ids.back(), 0);
    EXPECT_LT(encoding->ids.size(), text.size() / 2);
    EXPECT_EQ((*tokenizer)->decode(encoding->ids, true), text);
  }
}

TEST(SeedPieces, AreTheInnerNodesOfTheSuffixTree) {
  CharacterRow row;
  for (const std::u32string_view word : {U"abracadabra", U"abra"}) {
    row.begins.push_back(static_cast<uint32_t>(row.characters.size()));
    row.counts.push_back(word.size() == 4 ? 3 : 1);
    row.characters.insert(row.characters.end(), word.begin(), word.end());
    row.characters.push_back(kWordEnd);
  }
  std::vector<std::pair<std::u32string, double>> got;
  for (const SeedPiece& piece : make_seed_pieces(row, 16, 100)) {
    got.emplace_back(std::u32string(row.characters.data() + piece.begin, piece.length), piece.score);
  }
  // Substrings followed by more than one character ("abra": c and the end), their length times their occurrences.
  const std::vector<std::pair<std::u32string, double>> expected = {{U"a", 11}, {U"r", 5},     {U"b", 5},   {U"d", 1},
                                                                   {U"c", 1},  {U"abra", 12}, {U"bra", 9}, {U"ra", 6}};
  EXPECT_EQ(got, expected);
  EXPECT_EQ(make_seed_pieces(row, 3, 100).size(), 7U);
  EXPECT_EQ(make_seed_pieces(row, 16, 6).size(), 6U);
}

}  // namespace
}  // namespace vitro
