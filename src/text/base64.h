// Bytes written as text (RFC 4648, the standard alphabet with padding).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace vitro {

/// The bytes; nothing for what is no base64 with its padding.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace vitro
