// Real numbers as the `tokenizers` package reads them. Its JSON parser (serde_json without "float_roundtrip") is off by
// one unit in the last place for a number in four; scores of unigram pieces that tie by one rounding do not by another,
// so that equal tokens need equal readings.
#pragma once

#include <string_view>

namespace vitro {

/// The digits as one 64-bit integer, those beyond it dropped, times or divided by a power of ten: two roundings.
/// `number` follows the grammar of JSON. Infinite where the product is.
double quick_real(std::string_view number);

}  // namespace vitro
