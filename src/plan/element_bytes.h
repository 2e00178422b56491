// Bytes of the two kinds of numbers that plans count in, whatever their format: bfloat16 and float16, and float32.
#pragma once

#include <cstdint>

namespace vitro {

inline constexpr int64_t kHalfBytes = 2, kFloatBytes = 4;

}  // namespace vitro
