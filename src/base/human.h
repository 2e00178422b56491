// Numbers as people read them: byte sizes, grouped digits, durations. Used by messages, tables and progress lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace vitro {

/// 98362432 -> "93.8 MiB"; below 1 KiB exact ("512 B").
std::string human_bytes(uint64_t n_bytes);

/// "24GiB" (2^30), "24GB" (10^9), "1.5 TiB", "1000000" or "512B" -> bytes, any case, rounded down. InvalidArgument for
/// anything else, such as "24G", which does not say which of the two it means, negative sizes and those above 2^63 - 1.
Result<int64_t> parse_bytes(std::string_view text);

/// Positions and rows, whose sizes are powers of two by custom: "4096", "32k" (32 x 1,024), "1m" (1,024 x 1,024).
/// Errors as parse_bytes.
Result<int64_t> parse_positions(std::string_view text);

/// Amounts counted in thousands, such as tokens of a training run: "64", "300B" (10^9 each), "1.4T" (10^12 each).
/// Errors as parse_bytes.
Result<int64_t> parse_amount(std::string_view text);

/// 3821079552 -> "3,821,079,552".
std::string human_count(int64_t n);

/// 45.2 -> "45 s", 190 -> "3 min 10 s", 7300 -> "2 h 1 min"; more than 99 h as "over 99 h".
std::string human_seconds(double seconds);

}  // namespace vitro
