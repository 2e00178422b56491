// Small random tokenizers of every model, decoder and post-processor against the reference package
// (tests/data/tokens/random-models.jsonl, written by tools/make_model_expectations.py), and streams against whole
// decodes.
#include <gtest/gtest.h>

#include <random>

#include "tokens/stream_decoder.h"
#include "tokens/tokens_test_util.h"

namespace vitro {
namespace {

using testing::ids_of;
using testing::ranges_of;

size_t count_of(const Value& value) { return static_cast<size_t>(*value.as_int()); }
Side side_of(const Value& value) { return *value.as_string() == "left" ? Side::kLeft : Side::kRight; }

Truncation truncation_of(const Value::Array& how) {
  Truncation out{.max_length = count_of(how[0]), .side = side_of(how[3]), .stride = count_of(how[1])};
  if (*how[2].as_string() == "only_first") out.strategy = Truncation::Strategy::kOnlyFirst;
  if (*how[2].as_string() == "only_second") out.strategy = Truncation::Strategy::kOnlySecond;
  return out;
}

Padding padding_of(const Value::Array& how) {
  Padding out{.multiple_of = count_of(how[1]),
              .side = side_of(how[2]),
              .id = static_cast<TokenId>(*how[3].as_int()),
              .type_id = static_cast<int32_t>(*how[4].as_int())};
  if (how[0].as_int() != nullptr) out.fixed_length = count_of(how[0]);
  return out;
}

EncodeOptions options_of(const Value& how) {
  EncodeOptions out{.add_special = *how.find("special")->as_bool(), .parse_special = *how.find("parse")->as_bool()};
  if (const auto* truncation = how.find("truncation")->as_array()) out.truncation = truncation_of(*truncation);
  if (const auto* padding = how.find("padding")->as_array()) out.padding = padding_of(*padding);
  return out;
}

/// Ranges in code points of the text that each token is of.
std::vector<ByteRange> in_code_points(const Encoding& encoding, std::string_view first, std::string_view second) {
  const std::vector<ByteRange> of_second = [&] {
    std::vector<ByteRange> own = encoding.ranges;
    for (size_t i = 0; i < own.size(); ++i) {
      if (encoding.sources[i] != TokenSource::kSecond) own[i] = {};
    }
    return testing::in_code_points(second, own);
  }();
  std::vector<ByteRange> out = encoding.ranges;
  for (size_t i = 0; i < out.size(); ++i) {
    if (encoding.sources[i] == TokenSource::kSecond) out[i] = {};
  }
  out = testing::in_code_points(first, out);
  for (size_t i = 0; i < out.size(); ++i) {
    if (encoding.sources[i] == TokenSource::kSecond) out[i] = of_second[i];
  }
  return out;
}

bool is_equal(const Encoding& got, const Value& expected, std::string_view first, std::string_view second) {
  const Value::Array& overflow = *expected.find("overflow")->as_array();
  if (got.ids != ids_of(*expected.find("ids")) || got.type_ids != ids_of(*expected.find("types"))) return false;
  if (in_code_points(got, first, second) != ranges_of(*expected.find("offsets"))) return false;
  if (got.overflow.size() != overflow.size()) return false;
  for (size_t i = 0; i < overflow.size(); ++i) {
    if (!is_equal(got.overflow[i], overflow[i], first, second)) return false;
  }
  return true;
}

std::string shown(const Encoding& got, std::string_view first, std::string_view second) {
  std::string out = "ids";
  for (const TokenId id : got.ids) out += " " + std::to_string(id);
  out += " types";
  for (const int32_t id : got.type_ids) out += " " + std::to_string(id);
  out += " offsets";
  for (const ByteRange& range : in_code_points(got, first, second)) {
    out += " " + std::to_string(range.begin) + "-" + std::to_string(range.end);
  }
  return out + " parts " + std::to_string(got.overflow.size());
}

std::string settings_of(const Value& row) {
  const std::string& text = *row.find("tokenizer")->as_string();
  return text.substr(0, text.find("\"vocab\""));
}

void check_encode(const Tokenizer& tokenizer, const Value& row, const Value::Array& item) {
  const std::string& first = *item[0].as_string();
  const std::string second = item[1].is_null() ? "" : *item[1].as_string();
  const EncodeOptions options = options_of(item[2]);
  const Result<Encoding> got =
      item[1].is_null() ? tokenizer.encode(first, options) : tokenizer.encode_pair(first, second, options);
  if (item[3].is_null()) {
    EXPECT_FALSE(got) << settings_of(row) << "\n" << to_string(item[0]) << to_string(item[2]);
    return;
  }
  ASSERT_TRUE(got) << got.error().message << "\n" << settings_of(row) << "\n" << to_string(item[0]);
  EXPECT_TRUE(is_equal(*got, item[3], first, second))
      << settings_of(row) << "\n"
      << to_string(item[0]) << to_string(item[1]) << to_string(item[2]) << "\n"
      << to_string(item[3], 2000) << "\n"
      << shown(*got, first, second);
}

void check_decode(const Tokenizer& tokenizer, const Value& row, const Value::Array& item) {
  const std::vector<TokenId> ids = ids_of(item[0]);
  const bool skip_special = *item[1].as_bool();
  std::string pieces;
  for (const TokenId id : ids) pieces += std::string(tokenizer.piece(id)) + "|";
  EXPECT_EQ(tokenizer.decode(ids, skip_special), *item[2].as_string())
      << settings_of(row) << "\n"
      << to_string(item[0]) << skip_special << " " << pieces;
}

/// For all prefixes of the ids: what a stream has given out so far begins the decode of all of them.
void check_stream(const Tokenizer& tokenizer, std::span<const TokenId> ids, bool skip_special) {
  StreamDecoder stream(tokenizer, skip_special, true);
  std::string joined;
  for (const TokenId id : ids) {
    const std::string part = stream.push(id);
    ASSERT_TRUE(is_valid_utf8(part));
    joined += part;
  }
  const std::string whole = tokenizer.decode(ids, skip_special);
  ASSERT_TRUE(whole.starts_with(joined));
  ASSERT_EQ(joined + stream.finish(), whole);
}

std::vector<std::unique_ptr<Tokenizer>> tokenizers_of(const std::vector<Value>& rows) {
  std::vector<std::unique_ptr<Tokenizer>> out;
  for (const Value& row : rows) {
    Result<std::unique_ptr<Tokenizer>> tokenizer = parse_tokenizer(*row.find("tokenizer")->as_string(), "row");
    EXPECT_TRUE(tokenizer) << tokenizer.error().message << "\n" << settings_of(row);
    out.push_back(tokenizer ? std::move(*tokenizer) : nullptr);
  }
  return out;
}

class RandomModels : public ::testing::Test {
 protected:
  std::vector<Value> rows_ = testing::json_lines(testing::token_data("random-models.jsonl"));
  std::vector<std::unique_ptr<Tokenizer>> tokenizers_ = tokenizers_of(rows_);
};

TEST_F(RandomModels, EncodeAsTheReference) {
  ASSERT_GT(rows_.size(), 50U);
  for (size_t i = 0; i < rows_.size(); ++i) {
    for (const Value& item : *rows_[i].find("encodes")->as_array()) {
      if (tokenizers_[i]) check_encode(*tokenizers_[i], rows_[i], *item.as_array());
    }
  }
}

TEST_F(RandomModels, DecodeAsTheReference) {
  for (size_t i = 0; i < rows_.size(); ++i) {
    for (const Value& item : *rows_[i].find("decodes")->as_array()) {
      if (tokenizers_[i]) check_decode(*tokenizers_[i], rows_[i], *item.as_array());
    }
  }
}

TEST_F(RandomModels, StreamsEqualWholeDecodes) {
  std::mt19937 rng(11);
  for (const auto& tokenizer : tokenizers_) {
    if (!tokenizer) continue;
    const auto n = static_cast<uint32_t>(tokenizer->vocab_size());
    for (int round = 0; round < 100; ++round) {
      std::vector<TokenId> ids(rng() % 16);
      for (TokenId& id : ids) id = static_cast<TokenId>(rng() % (n + 2)) - 1;  // -1 and n too
      check_stream(*tokenizer, ids, rng() % 2 == 0);
    }
  }
}

}  // namespace
}  // namespace vitro
