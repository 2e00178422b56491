// Any bytes into the safetensors reader, and any text into the reader of shard indexes: a refusal, or tables that keep
// their promises.
#include "base/check.h"
#include "formats/safetensors.h"
#include "testing/index_rules.h"

namespace {

void read_weights(std::span<const std::byte> bytes) {
  const auto header = vitro::read_safetensors(bytes, "fuzz", true);
  if (!header) return;
  VITRO_CHECK(vitro::testing::broken_rule(header->tensors, UINT64_MAX).empty());
  const auto file = vitro::read_safetensors(bytes, "fuzz");
  VITRO_CHECK(!file || vitro::testing::broken_rule(file->tensors, bytes.size()).empty());
}

void read_index(std::string_view text) {
  const auto index = vitro::read_shard_index(text, "fuzz");
  if (!index) return;
  for (const std::string& name : index->files) VITRO_CHECK(name.find('/') == std::string::npos && name != "..");
  for (const auto& [tensor, file_idx] : index->tensor_file) {
    VITRO_CHECK(file_idx >= 0 && static_cast<size_t>(file_idx) < index->files.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // As the first byte of a length, '{' promises more than a fuzzed file has.
  if (size > 0 && data[0] == '{') {
    read_index({reinterpret_cast<const char*>(data), size});
  } else {
    read_weights({reinterpret_cast<const std::byte*>(data), size});
  }
  return 0;
}
