// Any bytes into the GGUF reader: a refusal, or a table that keeps its promises. Also the config made of the metadata,
// as `show` prints it.
#include "base/check.h"
#include "formats/gguf.h"
#include "testing/index_rules.h"

namespace {

/// Every element of every array can be read.
double touch(const vitro::GgufArray& array) {
  double sum = 0;
  for (uint64_t i = 0; i < array.count; ++i) {
    sum += array.real_at(i) + static_cast<double>(array.int_at(i));
    if (!array.arrays.empty()) sum += touch(array.arrays[i]);
    if (!array.strings.empty()) sum += static_cast<double>(array.strings[i].size());
  }
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto header = vitro::read_gguf(bytes, "fuzz", true);
  if (!header) return 0;
  VITRO_CHECK(vitro::testing::broken_rule(header->tensors, UINT64_MAX).empty());
  const auto file = vitro::read_gguf(bytes, "fuzz");
  VITRO_CHECK(!file || vitro::testing::broken_rule(file->tensors, size).empty());
  for (const vitro::GgufPair& pair : header->metadata) {
    if (const auto* array = std::get_if<vitro::GgufArray>(&pair.value)) touch(*array);
  }
  to_string(vitro::gguf_config(*header));
  return 0;
}
