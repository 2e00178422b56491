// Pre-tokenizers of tokenizer.json against the reference package (tests/data/tokens/pre-tokenizers.json, written by
// tools/make_pre_tokenizer_expectations.py), and the questions about characters that stand behind them.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "text/step_tables.h"
#include "text/text_steps.h"
#include "text/unicode.h"
#include "tokens/json_components.h"
#include "tokens/tokens_test_util.h"

namespace vitro {
namespace {

using testing::in_code_points;
using testing::json_file;
using testing::token_data;

struct Piece {
  std::string text;
  ByteRange offsets;  ///< in code points of the original
  bool operator==(const Piece&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Piece& piece) {
  return out << "'" << piece.text << "' " << piece.offsets.begin << "-" << piece.offsets.end;
}

std::vector<Piece> cut(std::string_view text, const std::vector<TextStep>& steps) {
  PieceList list = PieceList::whole(AlignedText::from(text));
  TextBudget budget(text.size());
  EXPECT_TRUE(apply_steps(steps, list, budget));
  std::vector<ByteRange> origins;
  for (const ByteRange& piece : list.pieces) origins.push_back(list.text.origin(piece));
  origins = in_code_points(text, origins);
  std::vector<Piece> out;
  for (size_t i = 0; i < list.pieces.size(); ++i) {
    const ByteRange& piece = list.pieces[i];
    out.push_back({std::string(list.text.text().substr(piece.begin, piece.size())), origins[i]});
  }
  return out;
}

std::vector<Piece> expected_pieces(const Value& pieces) {
  std::vector<Piece> out;
  for (const Value& item : *pieces.as_array()) {
    const Value::Array& parts = *item.as_array();
    out.push_back(
        {*parts[0].as_string(), {static_cast<size_t>(*parts[1].as_int()), static_cast<size_t>(*parts[2].as_int())}});
  }
  return out;
}

TEST(PreTokenizerExpectations, PiecesAndOffsetsAreThoseOfTheReference) {
  const Value data = json_file(token_data("pre-tokenizers.json"));
  const Value::Array& texts = *data.find("texts")->as_array();
  const Value::Array& components = *data.find("components")->as_array();
  ASSERT_GT(components.size(), 50U);
  for (size_t n = 0; n < components.size(); ++n) {
    std::vector<TextStep> steps;
    const Status read = read_pre_tokenizer(components[n].find("pre_tokenizer"), "pre_tokenizer", steps);
    ASSERT_TRUE(read) << n << ": " << read.error().message;
    const Value::Array& pieces = *components[n].find("pieces")->as_array();
    ASSERT_EQ(pieces.size(), texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      const std::string& text = *texts[i].as_string();
      EXPECT_EQ(cut(text, steps), expected_pieces(pieces[i])) << "component " << n << ", text '" << text << "'";
    }
  }
}

/// As digest() of the tool.
std::pair<int64_t, int64_t> digest(const std::function<uint32_t(char32_t)>& answer_of) {
  int64_t n_runs = 0;
  uint32_t out = 0x811C9DC5;
  uint32_t last = 0;
  const auto mix = [&](uint32_t value) {
    for (const int shift : {0, 8, 16, 24}) out = (out ^ (value >> shift & 0xFF)) * 0x01000193;
  };
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    const uint32_t answer = answer_of(code);
    if (n_runs > 0 && answer == last) continue;
    ++n_runs;
    mix(code);
    mix(answer);
    last = answer;
  }
  return {n_runs, out};
}

TEST(PreTokenizerExpectations, EveryCodePointIsAnsweredAsByTheReference) {
  std::map<int, uint32_t> scripts;
  const auto first_of_script = [&](char32_t code) {
    const int script = script_of(code);
    return script == 0 ? 0U : scripts.emplace(script, code + 1).first->second;
  };
  const auto member_of = [](CodeSet set) { return [=](char32_t code) { return is_in(set, code) ? 1U : 0U; }; };
  const std::map<std::string, std::function<uint32_t(char32_t)>> questions = {
      {"punctuation", member_of(CodeSet::kPunctuation)},
      {"number", member_of(CodeSet::kNumeric)},
      {"white_space", [](char32_t code) { return is_white_space(code) ? 1U : 0U; }},
      {"word", [](char32_t code) { return is_word_character(code) ? 1U : 0U; }},
      {"script", first_of_script}};
  const Value data = json_file(token_data("pre-tokenizers.json"));
  for (const auto& [name, answer_of] : questions) {
    const Value* expected = data.find("code_points")->find(name);
    ASSERT_NE(expected, nullptr) << name;
    const auto [n_runs, hash] = digest(answer_of);
    EXPECT_EQ(n_runs, *(*expected->as_array())[0].as_int()) << name;
    EXPECT_EQ(hash, *(*expected->as_array())[1].as_int()) << name;
  }
}

TEST(PreTokenizerExpectations, WhatIsUnknownOrWrongIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"type":"RandomSplit"})", "RandomSplit"},
      {R"({"type":"WhitespaceSplit","speed":2})", "speed"},
      {R"({"type":"FixedLength","length":0})", "length"},
      {R"({"type":"CharDelimiterSplit","delimiter":"ab"})", "delimiter"},
      {R"({"type":"CharDelimiterSplit","delimiter":""})", "delimiter"},
      {R"({"type":"Metaspace","replacement":"ab"})", "replacement"},
      {R"({"type":"Metaspace","replacement":"_","prepend_scheme":"first","add_prefix_space":false})", "prepend_scheme"},
      {R"({"type":"Punctuation","behavior":"Sometimes"})", "Sometimes"},
      {R"({"type":"Split","pattern":{"String":""},"behavior":"Removed","invert":true})", "removes everything"},
      {R"({"type":"Split","pattern":{},"behavior":"Removed","invert":true})", "String"}};
  for (const auto& [json, word] : cases) {
    const Value value = testing::json_of(json);
    std::vector<TextStep> steps;
    const Status read = read_pre_tokenizer(&value, "pre_tokenizer", steps);
    ASSERT_FALSE(read) << json;
    EXPECT_NE(read.error().message.find(word), std::string::npos) << read.error().message;
  }
}

}  // namespace
}  // namespace vitro
