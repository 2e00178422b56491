// The two large tables of a tokenizer.json, "vocab" (where it is an object of ids) and "merges", taken while the file
// is read: the bytes of all pieces one after another instead of a tree of values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"

namespace vitro {

/// A piece of the model and its id; the bytes belong to the document or its tables.
struct ModelPiece {
  std::string_view piece;
  int64_t id = -1;
};

/// An object of integers.
class JsonPieces final : public JsonListener {
 public:
  std::string open(bool is_array) override;
  std::string key(std::string_view name) override;
  std::string string(std::string_view text) override;
  std::string integer(int64_t value) override;
  std::string other() override;
  std::string close() override { return {}; }
  bool wants(bool is_array) const override { return !is_array; }

  std::vector<ModelPiece> pieces() const;

 private:
  struct Entry {
    uint32_t begin = 0;
    uint32_t n_bytes = 0;
    int64_t id = -1;
  };
  std::string wrong_id() const;

  std::string text_;
  std::vector<Entry> entries_;
  int depth_ = 0;
};

/// An array of "left right" or ["left", "right"].
class JsonMerges final : public JsonListener {
 public:
  std::string open(bool is_array) override;
  std::string key(std::string_view name) override;
  std::string string(std::string_view text) override;
  std::string integer(int64_t value) override;
  std::string other() override;
  std::string close() override;
  bool wants(bool is_array) const override { return is_array; }

  struct Merge {
    std::string_view left;
    std::string_view right;
    std::string_view both;  ///< one after the other
    uint32_t rank = 0;      ///< place in the array; entries that start with "#version" are left out
  };
  size_t size() const { return entries_.size(); }
  Merge operator[](size_t idx) const {
    const Entry& entry = entries_[idx];
    const std::string_view both = std::string_view(text_).substr(entry.begin, entry.n_left + entry.n_right);
    return {both.substr(0, entry.n_left), both.substr(entry.n_left), both, entry.rank};
  }

 private:
  struct Entry {
    uint32_t begin = 0;
    uint32_t n_left = 0;
    uint32_t n_right = 0;
    uint32_t rank = 0;
  };
  std::string wrong_merge() const;
  std::string add(size_t begin, size_t n_left);

  std::string text_;
  std::vector<Entry> entries_;
  uint32_t n_read_ = 0;
  int depth_ = 0;
  int n_parts_ = 0;  ///< strings of the pair that is open
  size_t begin_ = 0;
  size_t n_left_ = 0;
};

struct JsonTables {
  JsonPieces pieces;
  JsonMerges merges;
};

}  // namespace vitro
