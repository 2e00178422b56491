// GgufWriter: makes GGUF files for tests, from the specification and independently of the reader: every metadata kind,
// tensors of every type, any alignment. Sound by default; tests that want broken files patch the bytes.
//   GgufWriter gguf;
//   gguf.add("general.architecture", "llama").add("llama.block_count", uint32_t{2});
//   gguf.add_tensor("output_norm.weight", DType::kF32, {64}, bytes_of(values));
//   write_file(path, gguf.bytes());
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace vitro::testing {

/// The bytes of numbers as they lie in memory (little-endian, as in the files).
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

inline void write_file(const std::filesystem::path& path, std::string_view contents) {
  std::ofstream(path, std::ios::binary).write(contents.data(), static_cast<std::streamsize>(contents.size()));
}

class GgufWriter {
 public:
  /// A value's type number and its bytes, so that arrays can hold arrays.
  struct Encoded {
    uint32_t type;
    std::string bytes;
  };

  uint32_t version = 3;

  template <class T>
  static Encoded scalar(T value) {
    return {type_number<T>(), std::string(reinterpret_cast<const char*>(&value), sizeof(T))};
  }
  static Encoded string(std::string_view text) { return {8, scalar(uint64_t{text.size()}).bytes + std::string(text)}; }
  /// `items` must be of one type; an empty array says which with `element`.
  static Encoded array(const std::vector<Encoded>& items, uint32_t element = 4) {
    if (!items.empty()) element = items[0].type;
    std::string out = scalar(element).bytes + scalar(uint64_t{items.size()}).bytes;
    for (const Encoded& item : items) out += item.bytes;
    return {9, std::move(out)};
  }

  GgufWriter& add(std::string_view key, const Encoded& value) {
    metadata_ += string(key).bytes + scalar(value.type).bytes + value.bytes;
    ++n_pairs_;
    return *this;
  }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  GgufWriter& add(std::string_view key, T value) {
    return add(key, scalar(value));
  }
  GgufWriter& add(std::string_view key, std::string_view text) { return add(key, string(text)); }
  GgufWriter& add(std::string_view key, const char* text) { return add(key, string(text)); }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  GgufWriter& add(std::string_view key, const std::vector<T>& values) {
    std::vector<Encoded> items;
    for (const T value : values) items.push_back(scalar(value));
    return add(key, array(items, type_number<T>()));
  }
  GgufWriter& add(std::string_view key, const std::vector<std::string>& texts) {
    std::vector<Encoded> items;
    for (const std::string& text : texts) items.push_back(string(text));
    return add(key, array(items, 8));
  }
  /// Adds general.alignment and lays tensors out by it; before the first tensor.
  GgufWriter& align_to(uint32_t alignment) {
    alignment_ = alignment;
    return add("general.alignment", alignment);
  }

  /// `shape` outermost first, as everywhere in the engine; the file has it reversed. `data` must be as long as type and
  /// shape say.
  GgufWriter& add_tensor(std::string_view name, DType dtype, const Shape& shape, std::string_view data) {
    VITRO_CHECK(checked_bytes(dtype, shape) == static_cast<int64_t>(data.size()));
    infos_ += string(name).bytes + scalar(static_cast<uint32_t>(shape.rank())).bytes;
    for (int axis = shape.rank(); axis-- > 0;) infos_ += scalar(static_cast<uint64_t>(shape[axis])).bytes;
    infos_ += scalar(static_cast<uint32_t>(dtype_info(dtype).gguf_type)).bytes + scalar(uint64_t{data_.size()}).bytes;
    data_ += data;
    pad(data_);
    ++n_tensors_;
    return *this;
  }

  /// The file up to the last tensor's record, without padding or tensor data.
  std::string header() const {
    return "GGUF" + scalar(version).bytes + scalar(n_tensors_).bytes + scalar(n_pairs_).bytes + metadata_ + infos_;
  }
  /// The whole file.
  std::string bytes() const {
    std::string out = header();
    pad(out);
    return out + data_;
  }

 private:
  template <class T>
  static constexpr uint32_t type_number() {
    if constexpr (std::is_same_v<T, bool>) return 7;
    if constexpr (std::is_same_v<T, float>) return 6;
    if constexpr (std::is_same_v<T, double>) return 12;
    constexpr bool is_signed = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1) return is_signed ? 1 : 0;
    if constexpr (sizeof(T) == 2) return is_signed ? 3 : 2;
    if constexpr (sizeof(T) == 4) return is_signed ? 5 : 4;
    return is_signed ? 11 : 10;
  }
  void pad(std::string& out) const { out.resize((out.size() + alignment_ - 1) / alignment_ * alignment_, '\0'); }

  uint32_t alignment_ = 32;
  uint64_t n_pairs_ = 0;
  uint64_t n_tensors_ = 0;
  std::string metadata_, infos_, data_;
};

}  // namespace vitro::testing
