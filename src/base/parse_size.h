// Sizes as people type them: "24GiB", "80GB", "32k", "2T". The unit decides, so nothing is guessed: G alone is refused
// for bytes, because half of its users mean 10^9 and half 2^30.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace vitro {

/// Positions and rows, whose sizes are powers of two by custom: "4096", "32k" = 32 x 1,024, "1m" = 1,024 x 1,024.
Result<int64_t> parse_positions(std::string_view text);

/// Amounts counted in thousands: tokens of a training run, people: "300B" = 300 x 10^9, k, M, B or G, T.
Result<int64_t> parse_amount(std::string_view text);

}  // namespace vitro
