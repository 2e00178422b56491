// A unit of the double array holds a label (low byte), a bit that says whether a key ends here, and the offset to its
// children; the unit of an end holds the value. A child of node n with byte b is n XOR offset XOR b.
#include "text/precompiled_charsmap.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace vitro {
namespace {

constexpr uint32_t kValueBit = 0x80000000U;

uint32_t label_of(uint32_t unit) { return unit & (kValueBit | 0xFFU); }
bool ends_key(uint32_t unit) { return ((unit >> 8) & 1U) != 0; }
size_t offset_of(uint32_t unit) { return static_cast<size_t>(unit >> 10) << ((unit & 0x200U) >> 6); }

}  // namespace

Result<PrecompiledCharsmap> PrecompiledCharsmap::make(std::string_view blob) {
  uint32_t n_trie_bytes = 0;
  if (blob.size() < sizeof(n_trie_bytes)) {
    return fail(ErrorCode::kCorrupt, "precompiled_charsmap has {} bytes, too few for its length", blob.size());
  }
  std::memcpy(&n_trie_bytes, blob.data(), sizeof(n_trie_bytes));
  blob.remove_prefix(sizeof(n_trie_bytes));
  if (n_trie_bytes == 0 || n_trie_bytes >= blob.size() || n_trie_bytes % sizeof(uint32_t) != 0) {
    return fail(ErrorCode::kCorrupt, "precompiled_charsmap: a trie of {} bytes in {} bytes", n_trie_bytes, blob.size());
  }
  PrecompiledCharsmap out;
  out.units_.resize(n_trie_bytes / sizeof(uint32_t));
  std::memcpy(out.units_.data(), blob.data(), n_trie_bytes);
  out.replacements_ = blob.substr(n_trie_bytes);
  return out;
}

PrecompiledCharsmap::Rule PrecompiledCharsmap::find(std::string_view text, bool stops_at_first) const {
  if (units_.empty()) return {};
  size_t n_bytes = 0;
  size_t value = 0;
  size_t node = offset_of(units_[0]);
  for (size_t i = 0; i < std::min(text.size(), kMaxKeyBytes); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (stops_at_first && byte == 0) break;
    node ^= byte;
    if (node >= units_.size() || label_of(units_[node]) != byte) break;
    const uint32_t unit = units_[node];
    node ^= offset_of(unit);
    if (!ends_key(unit)) continue;
    if (node >= units_.size()) break;
    n_bytes = i + 1;
    value = units_[node] & ~kValueBit;
    if (stops_at_first) break;
  }
  if (n_bytes == 0 || value >= replacements_.size()) return {};
  const std::string_view rest = std::string_view(replacements_).substr(value);
  return {n_bytes, rest.substr(0, rest.find('\0'))};
}

}  // namespace vitro
