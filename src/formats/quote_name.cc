#include "formats/quote_name.h"

#include <fmt/core.h>

namespace vitro {

std::string quote_name(std::string_view name) {
  constexpr size_t kMaxBytes = 96;
  std::string out = "'";
  for (const char c : name.substr(0, kMaxBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", byte);
    }
  }
  return out + (name.size() > kMaxBytes ? "...'" : "'");
}

}  // namespace vitro
