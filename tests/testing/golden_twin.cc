#include "testing/golden_twin.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "testing/shared_data.h"

namespace vitro::testing {
namespace {

constexpr std::string_view kMagic = "VITROTWN";
constexpr uint32_t kMaxResult = 64U << 20;

/// Remainders of all bytes for the reflected polynomial of zlib's CRC-32.
constexpr std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t state = byte;
    for (int bit = 0; bit < 8; ++bit) state = state >> 1 ^ (state & 1 ? 0xEDB88320U : 0U);
    table[byte] = state;
  }
  return table;
}

uint32_t crc32(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = crc_table();
  uint32_t state = ~0U;
  for (const char byte : bytes) state = state >> 8 ^ kTable[(state ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~state;
}

/// Takes fields from the front of a patch; `is_short` once one was not there.
class Fields {
 public:
  explicit Fields(std::string_view rest) : rest_(rest) {}

  uint32_t u32() {
    uint32_t value = 0;
    const std::string_view field = bytes(sizeof value);
    if (!is_short_) std::memcpy(&value, field.data(), field.size());
    return value;
  }
  std::string_view bytes(size_t n) {
    is_short_ |= n > rest_.size();
    if (is_short_) return {};
    const std::string_view field = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return field;
  }
  bool is_short() const { return is_short_; }
  bool is_empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool is_short_ = false;
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path.string() + ": cannot be opened");
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

Result<std::string> apply_patch(std::string_view patch, std::string_view source) {
  Fields fields(patch);
  const bool has_magic = fields.bytes(kMagic.size()) == kMagic;
  const size_t size = fields.u32();
  const uint32_t crc = fields.u32();
  if (!has_magic || fields.is_short() || size > kMaxResult)
    return fail(ErrorCode::kCorrupt, "not a patch of a golden twin, or one of over {} bytes", kMaxResult);
  std::string result;
  result.reserve(size);
  while (result.size() < size) {
    const size_t n_literal = fields.u32(), offset = fields.u32(), n_copied = fields.u32();
    const std::string_view literal = fields.bytes(n_literal);
    const bool fits = n_literal + n_copied > 0 && n_literal + n_copied <= size - result.size();
    if (fields.is_short() || !fits || offset > source.size() || n_copied > source.size() - offset)
      return fail(ErrorCode::kCorrupt, "the piece behind {} bytes reaches beyond its files", result.size());
    result += literal;
    result += source.substr(offset, n_copied);
  }
  if (!fields.is_empty() || crc32(result) != crc)
    return fail(ErrorCode::kCorrupt, "the patch does not belong to this source, or bytes follow it");
  return result;
}

GoldenTwin::GoldenTwin(const std::string& name) : path_(folder_.path() / (name + ".gguf")) {
  const auto golden = repo_path("tests/golden");
  const auto twin =
      apply_patch(read_file(golden / "gguf" / (name + ".patch")), read_file(golden / name / "model.safetensors"));
  if (!twin) throw std::runtime_error(name + ": " + twin.error().message);
  std::ofstream(path_, std::ios::binary).write(twin->data(), static_cast<std::streamsize>(twin->size()));
}

}  // namespace vitro::testing
