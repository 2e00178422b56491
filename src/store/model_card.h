// The licence that a model's README.md tells in its front matter (YAML between two lines of "---").
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vitro {

/// Front matter lies within so many bytes; no more of a README.md need be read.
inline constexpr size_t kMaxFrontMatter = size_t{64} << 10;

/// "license: apache-2.0", also as the first item of a list; for "other", what license_name says, and license_link in
/// brackets. At most 200 bytes without control characters; empty if it is not told. Only these plain forms of YAML are
/// read: the rest of a card may be anything.
std::string license_of_card(std::string_view readme);

}  // namespace vitro
