// Reference twins of what the cache stores: rounding to its types (EncodeArgs in table.h) and the way back.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/reference/reference.h"
#include "tensor/half.h"

namespace vitro::reference {
namespace {

template <class T>
T read(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof(value));
  return value;
}

/// max |x|; NaN if an element is NaN or infinite.
float largest_magnitude(const float* x, int64_t n) {
  float largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (!std::isfinite(x[i])) return NAN;
    largest = std::max(largest, std::abs(x[i]));
  }
  return largest;
}

/// `round` makes the element's byte of x / step.
template <class Round>
void encode_scaled(const EncodeArgs& args, float largest, Round round) {
  for (int64_t b = 0; b < args.n / args.scale_block; ++b) {
    const float* x = args.x + b * args.scale_block;
    const float step = largest_magnitude(x, args.scale_block) / largest;
    const float inverse = 1 / step;
    const uint16_t scale = f32_to_f16(step);
    std::memcpy(args.scales + b * 2, &scale, sizeof(scale));
    for (int64_t i = 0; i < args.scale_block; ++i) {
      args.elements[b * args.scale_block + i] =
          std::isfinite(inverse) ? std::byte(round(x[i] * inverse)) : std::byte{0};
    }
  }
}

template <class Narrow>
void encode_words(const EncodeArgs& args, Narrow narrow) {
  for (int64_t i = 0; i < args.n; ++i) {
    const uint16_t word = narrow(args.x[i]);
    std::memcpy(args.elements + 2 * i, &word, sizeof(word));
  }
}

uint8_t round_int8(float x) { return static_cast<uint8_t>(static_cast<int8_t>(std::round(x))); }

}  // namespace

float stored_value(CacheType type, const std::byte* element, const std::byte* scale) {
  switch (type) {
    case CacheType::kF32:
      return read<float>(element);
    case CacheType::kF16:
      return f16_to_f32(read<uint16_t>(element));
    case CacheType::kBF16:
      return bf16_to_f32(read<uint16_t>(element));
    case CacheType::kQ8_0:
    case CacheType::kInt8:
      return f16_to_f32(read<uint16_t>(scale)) * static_cast<float>(read<int8_t>(element));
    case CacheType::kFp8:
      return f16_to_f32(read<uint16_t>(scale)) * e4m3_to_f32(read<uint8_t>(element));
  }
  return NAN;
}

void encode(CacheType type, const EncodeArgs& args) {
  switch (type) {
    case CacheType::kF32:
      std::memcpy(args.elements, args.x, static_cast<size_t>(args.n) * sizeof(float));
      break;
    case CacheType::kF16:
      return encode_words(args, f32_to_f16);
    case CacheType::kBF16:
      return encode_words(args, f32_to_bf16);
    case CacheType::kQ8_0:
    case CacheType::kInt8:
      return encode_scaled(args, 127, round_int8);
    case CacheType::kFp8:
      return encode_scaled(args, 448, f32_to_e4m3);
  }
}

}  // namespace vitro::reference
