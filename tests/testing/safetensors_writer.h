// SafetensorsWriter: makes safetensors files for tests, independently of the reader. Tensors lie in the order in which
// they are added.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "testing/gguf_writer.h"

namespace vitro::testing {

/// A file of that header text and data: for headers that no writer would write.
inline std::string safetensors_bytes(std::string_view header, std::string_view data) {
  const uint64_t n_header = header.size();
  return std::string(reinterpret_cast<const char*>(&n_header), sizeof(n_header)) + std::string(header) +
         std::string(data);
}

class SafetensorsWriter {
 public:
  /// `name` must need no escapes; `data` must be as long as type and shape say.
  SafetensorsWriter& add(std::string_view name, DType dtype, const Shape& shape, std::string_view data) {
    VITRO_CHECK(checked_bytes(dtype, shape) == static_cast<int64_t>(data.size()));
    const std::string begin = std::to_string(data_.size());
    data_ += data;
    add_member(std::string(name), "{\"dtype\":\"" + std::string(dtype_info(dtype).name) +
                                      "\",\"shape\":" + to_string(shape) + ",\"data_offsets\":[" + begin + "," +
                                      std::to_string(data_.size()) + "]}");
    return *this;
  }
  /// One pair of "__metadata__"; at most one call.
  SafetensorsWriter& add_metadata(std::string_view key, std::string_view text) {
    add_member("__metadata__", "{\"" + std::string(key) + "\":\"" + std::string(text) + "\"}");
    return *this;
  }

  std::string header() const { return "{" + members_ + "}"; }
  /// The whole file, its header padded with spaces to a multiple of 8 as the reference library does.
  std::string bytes() const {
    std::string text = header();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    return safetensors_bytes(text, data_);
  }

 private:
  void add_member(const std::string& name, const std::string& json) {
    members_ += (members_.empty() ? "\"" : ",\"") + name + "\":" + json;
  }

  std::string members_, data_;
};

}  // namespace vitro::testing
