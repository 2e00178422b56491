// For tests only: reading the expectations that tools/make_token_expectations.py wrote, and building GGUF vocabularies
// in memory.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "formats/json.h"
#include "testing/shared_data.h"
#include "text/utf8.h"
#include "tokens/tokenizer.h"

namespace vitro::testing {

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

inline Value json_of(std::string_view text) {
  const Result<Value> value = parse_json(text, "test data", {.max_depth = 64, .max_values = size_t{1} << 22});
  EXPECT_TRUE(value) << value.error().message;
  return value ? *value : Value();
}

inline Value json_file(const std::filesystem::path& path) { return json_of(read_text(path)); }

/// One value a line.
inline std::vector<Value> json_lines(const std::filesystem::path& path) {
  std::vector<Value> out;
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  for (std::string line; std::getline(in, line);) out.push_back(json_of(line));
  return out;
}

inline std::filesystem::path token_data(std::string_view file) {
  return repo_path("tests/data/tokens/" + std::string(file));
}

inline std::vector<TokenId> ids_of(const Value& list) {
  std::vector<TokenId> out;
  for (const Value& id : *list.as_array()) out.push_back(static_cast<TokenId>(*id.as_int()));
  return out;
}

inline std::vector<ByteRange> ranges_of(const Value& list) {
  std::vector<ByteRange> out;
  for (const Value& pair : *list.as_array()) {
    const Value::Array& ends = *pair.as_array();
    out.push_back({static_cast<size_t>(*ends[0].as_int()), static_cast<size_t>(*ends[1].as_int())});
  }
  return out;
}

/// Byte ranges of `text` in code points, as the reference counts.
inline std::vector<ByteRange> in_code_points(std::string_view text, const std::vector<ByteRange>& ranges) {
  std::vector<size_t> index(text.size() + 1, 0);
  size_t n = 0;
  for (size_t pos = 0; pos < text.size(); ++pos) {
    if (pos > 0 && (static_cast<uint8_t>(text[pos]) & 0xC0U) != 0x80) ++n;
    index[pos] = n;
  }
  index[text.size()] = text.empty() ? 0 : n + 1;
  std::vector<ByteRange> out;
  for (const ByteRange& range : ranges) out.push_back({index[range.begin], index[range.end]});
  return out;
}

/// A GGUF file with metadata only; strings live in the object.
class GgufBuilder {
 public:
  GgufBuilder& text(std::string key, std::string value) {
    return add(std::move(key), GgufType::kString, own(std::move(value)));
  }
  GgufBuilder& integer(std::string key, int64_t value) { return add(std::move(key), GgufType::kU32, value); }
  GgufBuilder& flag(std::string key, bool value) { return add(std::move(key), GgufType::kBool, value); }
  GgufBuilder& strings(std::string key, const std::vector<std::string>& values) {
    GgufArray array{.element = GgufType::kString, .count = values.size(), .raw = {}, .strings = {}, .arrays = {}};
    for (const std::string& value : values) array.strings.push_back(own(value));
    return add(std::move(key), GgufType::kArray, std::move(array));
  }
  template <class T>
  GgufBuilder& numbers(std::string key, GgufType type, const std::vector<T>& values) {
    const std::string_view bytes =
        own(std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
    const std::span raw(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
    return add(std::move(key), GgufType::kArray,
               GgufArray{.element = type, .count = values.size(), .raw = raw, .strings = {}, .arrays = {}});
  }
  GgufBuilder& drop(std::string_view key) {
    std::erase_if(file_.metadata, [&](const GgufPair& pair) { return pair.key == key; });
    return *this;
  }
  const GgufFile& file() const { return file_; }

 private:
  using Any = std::variant<int64_t, double, bool, std::string_view, GgufArray>;
  GgufBuilder& add(std::string key, GgufType type, Any value) {
    const std::string_view name = own("tokenizer.ggml." + key);
    drop(name);
    file_.metadata.push_back({name, type, std::move(value)});
    return *this;
  }
  std::string_view own(std::string value) {
    return *store_.emplace_back(std::make_unique<std::string>(std::move(value)));
  }

  GgufFile file_;
  std::vector<std::unique_ptr<std::string>> store_;
};

}  // namespace vitro::testing
