// GGUF versions 2 and 3: metadata (typed keys), tensor table, aligned tensor data. Specification: ggml's docs/gguf.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "formats/value.h"
#include "formats/weight_index.h"

namespace vitro {

/// Value types of GGUF metadata, numbered as in the file.
enum class GgufType : uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kArray, kU64, kI64, kF64 };

/// An array as it lies in the file: scalars stay raw little-endian bytes, strings are views into the file's bytes.
struct GgufArray {
  GgufType element = GgufType::kU8;
  uint64_t count = 0;
  std::span<const std::byte> raw;         ///< scalars: count * size bytes, unaligned
  std::vector<std::string_view> strings;  ///< element == kString
  std::vector<GgufArray> arrays;          ///< element == kArray

  /// The raw bytes as text.
  std::string_view text() const { return {reinterpret_cast<const char*>(raw.data()), raw.size()}; }
  /// Element idx of an integer or bool array as int64 (InvalidArgument is not possible: returns 0 for other kinds;
  /// check `element`).
  int64_t int_at(uint64_t idx) const;
  /// Element idx of an F32 or F64 array.
  double real_at(uint64_t idx) const;
  bool is_integer() const;
  bool is_real() const { return element == GgufType::kF32 || element == GgufType::kF64; }
};

/// One metadata pair; integers of every width are int64 (a U64 above 2^63-1 is refused), both floats are double.
struct GgufPair {
  std::string_view key;
  GgufType type;
  std::variant<int64_t, double, bool, std::string_view, GgufArray> value;
};

/// A validated file. Views point into the bytes given to read_gguf.
struct GgufFile {
  uint32_t version = 0;
  uint64_t alignment = 32;
  std::vector<GgufPair> metadata;  ///< order of the file; keys unique
  WeightIndex tensors;

  const GgufPair* find(std::string_view key) const;
  /// Typed look-ups: null if absent or of another kind.
  const std::string_view* find_string(std::string_view key) const;
  const int64_t* find_int(std::string_view key) const;
  const double* find_real(std::string_view key) const;
  const bool* find_bool(std::string_view key) const;
  const GgufArray* find_array(std::string_view key) const;
};

/// Pure function of the bytes: validates everything, touches no tensor. Corrupt / Unsupported with offset, expected,
/// found. With is_header_only the tensor data may be missing or cut (offsets are then checked against each other only).
Result<GgufFile> read_gguf(std::span<const std::byte> bytes, std::string_view where, bool is_header_only = false);

/// The metadata as one flat object, key -> value; keys starting with "tokenizer." are left out (tokens/ reads those as
/// arrays).
Value gguf_config(const GgufFile& file);

}  // namespace vitro
