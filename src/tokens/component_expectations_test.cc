// Every normalizer and pre-tokenizer against the reference package: texts, cuts and origins (tests/data/tokens, written
// by tools/make_component_expectations.py), and a digest over all code points.
#include <gtest/gtest.h>

#include "testing/expect_error.h"
#include "tokens/json_components.h"
#include "tokens/tokens_test_util.h"

namespace vitro {
namespace {

using testing::json_file;
using testing::token_data;

constexpr char32_t kBlock = 8192;

PieceList applied(const std::vector<TextStep>& steps, std::string_view text) {
  PieceList list = PieceList::whole(AlignedText::from(text));
  TextBudget budget(text.size());
  const Status status = apply_steps(steps, list, budget);
  EXPECT_TRUE(status) << text;
  return list;
}

std::vector<TextStep> read_steps(const Value& row, bool is_normalizer) {
  std::vector<TextStep> steps;
  const Value* json = row.find("json");
  const Status status =
      is_normalizer ? read_normalizer(json, "normalizer", steps) : read_pre_tokenizer(json, "pre_tokenizer", steps);
  EXPECT_TRUE(status) << *row.find("name")->as_string() << ": " << (status ? "" : status.error().message);
  return steps;
}

/// Places count code points.
void append_place(std::string_view text, ByteRange range, std::vector<int64_t>& out) {
  for (const size_t end : {range.begin, range.end}) {
    int64_t n = 0;
    for (const char c : text.substr(0, end)) n += (static_cast<uint8_t>(c) & 0xC0U) != 0x80 ? 1 : 0;
    out.push_back(n);
  }
}

std::vector<int64_t> integers(const Value& list) {
  std::vector<int64_t> out;
  for (const Value& item : *list.as_array()) out.push_back(*item.as_int());
  return out;
}

std::string normalized(const PieceList& list) {
  std::string out;
  for (const ByteRange& piece : list.pieces) out += list.text.text().substr(piece.begin, piece.size());
  return out;
}

TEST(ComponentExpectations, NormalizersWriteWhatTheReferenceWritesAndKnowWhereItCameFrom) {
  const Value data = json_file(token_data("components.json"));
  size_t n_texts = 0;
  for (const Value& row : *data.find("normalizers")->as_array()) {
    const std::string& name = *row.find("name")->as_string();
    const std::vector<TextStep> steps = read_steps(row, true);
    for (const Value& item : *row.find("texts")->as_array()) {
      const Value::Array& expected = *item.as_array();
      const std::string& text = *expected[0].as_string();
      const PieceList list = applied(steps, text);
      EXPECT_EQ(normalized(list), *expected[1].as_string()) << name << ": " << text;
      std::vector<int64_t> places;
      for (const ByteRange& piece : list.pieces) {
        for (size_t pos = piece.begin; pos < piece.end; ++pos) {
          append_place(text, list.text.origin({pos, pos + 1}), places);
        }
      }
      EXPECT_EQ(places, integers(expected[2])) << name << ": " << text;
      ++n_texts;
    }
  }
  EXPECT_GT(n_texts, 350U);
}

TEST(ComponentExpectations, PreTokenizersCutWhereTheReferenceCuts) {
  const Value data = json_file(token_data("components.json"));
  size_t n_texts = 0;
  for (const Value& row : *data.find("pre_tokenizers")->as_array()) {
    const std::string& name = *row.find("name")->as_string();
    const std::vector<TextStep> steps = read_steps(row, false);
    for (const Value& item : *row.find("texts")->as_array()) {
      const Value::Array& expected = *item.as_array();
      const std::string& text = *expected[0].as_string();
      const PieceList list = applied(steps, text);
      std::vector<std::string> pieces;
      std::vector<int64_t> places;
      for (const ByteRange& piece : list.pieces) {
        pieces.emplace_back(list.text.text().substr(piece.begin, piece.size()));
        append_place(text, list.text.origin(piece), places);
      }
      std::vector<std::string> wanted;
      for (const Value& piece : *expected[1].as_array()) wanted.push_back(*piece.as_string());
      EXPECT_EQ(pieces, wanted) << name << ": " << text;
      EXPECT_EQ(places, integers(expected[2])) << name << ": " << text;
      ++n_texts;
    }
  }
  EXPECT_GT(n_texts, 700U);
}

std::string text_of_block(char32_t first) {
  std::string out;
  for (char32_t code = first; code < first + kBlock; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    out += 'a';
    append_utf8(out, code);
    out += '\n';
  }
  return out;
}

std::string joined_pieces(const PieceList& list) {
  std::string out;
  for (const ByteRange& piece : list.pieces) {
    if (piece.begin != list.pieces.front().begin) out += '\x1F';
    out += list.text.text().substr(piece.begin, piece.size());
  }
  return out;
}

std::string fnv(std::string_view text) {
  uint32_t value = 0x811C9DC5;
  for (const char c : text) value = (value ^ static_cast<uint8_t>(c)) * 0x01000193U;
  return fmt::format("{:08x}", value);
}

TEST(ComponentExpectations, EveryCodePointIsTreatedAsByTheReference) {
  const Value data = json_file(token_data("components.json"));
  std::vector<std::string> texts;
  for (char32_t first = 0; first < 0x110000; first += kBlock) texts.push_back(text_of_block(first));
  for (const Value& row : *data.find("every_code_point")->as_array()) {
    const std::string& type = *row.find("json")->find("type")->as_string();
    const bool is_normalizer = row.find("is_normalizer")->as_bool() != nullptr && *row.find("is_normalizer")->as_bool();
    const std::vector<TextStep> steps = read_steps(row, is_normalizer);
    const Value::Array& digests = *row.find("digests")->as_array();
    ASSERT_EQ(digests.size(), texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      const PieceList list = applied(steps, texts[i]);
      EXPECT_EQ(fnv(is_normalizer ? normalized(list) : joined_pieces(list)), *digests[i].as_string())
          << type << ", code points from " << std::hex << i * kBlock;
    }
  }
}

TEST(ComponentExpectations, BrokenComponentsAreRefused) {
  const auto normalizer = [](std::string_view json) {
    const Value value = testing::json_of(json);
    std::vector<TextStep> steps;
    return read_normalizer(&value, "normalizer", steps);
  };
  const auto pre_tokenizer = [](std::string_view json) {
    const Value value = testing::json_of(json);
    std::vector<TextStep> steps;
    return read_pre_tokenizer(&value, "pre_tokenizer", steps);
  };
  const ErrorCode bad = ErrorCode::kCorrupt;
  const ErrorCode new_to_us = ErrorCode::kUnsupported;
  using testing::expect_error;
  expect_error(normalizer(R"({"type":"Precompiled","precompiled_charsmap":"AAA"})"), bad, "base64");
  expect_error(normalizer(R"({"type":"Precompiled","precompiled_charsmap":"/////w=="})"), bad, "trie");
  expect_error(normalizer(R"({"type":"Replace","pattern":{"Regex":5},"content":""})"), bad, "pattern");
  expect_error(normalizer(R"({"type":"Replace","pattern":{"Regex":"\\R"},"content":""})"), new_to_us, "normalizer");
  expect_error(normalizer(R"({"type":"Replace","pattern":{"String":""},"content":"x"})"), new_to_us, "empty");
  expect_error(normalizer(R"({"type":"BertNormalizer","upper":true})"), new_to_us, "upper");
  expect_error(pre_tokenizer(R"({"type":"FixedLength","length":0})"), bad, "length");
  expect_error(pre_tokenizer(R"({"type":"CharDelimiterSplit","delimiter":"ab"})"), bad, "delimiter");
  expect_error(pre_tokenizer(R"({"type":"Punctuation","behavior":"Gone"})"), new_to_us, "Gone");
  expect_error(
      pre_tokenizer(R"({"type":"Metaspace","replacement":"_","add_prefix_space":false,"prepend_scheme":"first"})"), bad,
      "prepend_scheme");
}

// The reference cuts and replaces at empty matches as well, so ignoring them would be wrong.
TEST(ComponentExpectations, PatternsThatCanMatchNothingAreRefusedByName) {
  for (const char* regex : {"x*", "x?", "x*?", "(?:a|x*)", "^", "$", R"(\\b)", "(?=a)", "(?!a)x{0,3}", "a|"}) {
    const std::string pattern = std::string(R"("pattern":{"Regex":")") + regex + R"("})";
    std::vector<TextStep> steps;
    const Value split = testing::json_of(R"({"type":"Split","behavior":"Isolated","invert":false,)" + pattern + "}");
    const Value replace = testing::json_of(R"({"type":"Replace","content":"-",)" + pattern + "}");
    const char* words = "a pattern that can match nothing";
    testing::expect_error(read_pre_tokenizer(&split, "pre_tokenizer", steps), ErrorCode::kUnsupported, words);
    testing::expect_error(read_normalizer(&replace, "normalizer", steps), ErrorCode::kUnsupported, words);
  }
}

}  // namespace
}  // namespace vitro
