// Weights of a file row as float32. Each function is the formula of its format (tensor/quant_block.h), operation by
// operation as the gguf package does it, so the results are equal bit for bit.
#include <cstring>

#include "base/check.h"
#include "tensor/half.h"
#include "tensor/panel.h"
#include "tensor/quant_block.h"

namespace vitro {
namespace {

template <class T>
T load_as(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}
float half_at(const std::byte* p) { return f16_to_f32(load_as<uint16_t>(p)); }
int byte_at(const std::byte* p) { return std::to_integer<int>(*p); }
int low_nibble(const std::byte* p) { return byte_at(p) & 0xF; }
int high_nibble(const std::byte* p) { return byte_at(p) >> 4; }

template <DType kType>
void dequantize_block(const std::byte* block, float* out);

template <>
void dequantize_block<DType::kF32>(const std::byte* block, float* out) {
  *out = load_as<float>(block);
}
template <>
void dequantize_block<DType::kF16>(const std::byte* block, float* out) {
  *out = half_at(block);
}
template <>
void dequantize_block<DType::kBF16>(const std::byte* block, float* out) {
  *out = bf16_to_f32(load_as<uint16_t>(block));
}

template <>
void dequantize_block<DType::kQ8_0>(const std::byte* block, float* out) {
  const float d = half_at(block);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(load_as<int8_t>(block + 2 + i));
}

template <>
void dequantize_block<DType::kQ4_1>(const std::byte* block, float* out) {
  const float d = half_at(block), m = half_at(block + 2);
  const std::byte* nibbles = block + 4;
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(low_nibble(nibbles + i)) + m;
    out[i + 16] = d * static_cast<float>(high_nibble(nibbles + i)) + m;
  }
}

template <>
void dequantize_block<DType::kQ5_0>(const std::byte* block, float* out) {
  const float d = half_at(block);
  const auto high = load_as<uint32_t>(block + 2);
  const auto high_bit = [high](int column) { return static_cast<int>((high >> column) & 1U) << 4; };
  const std::byte* nibbles = block + 6;
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>((low_nibble(nibbles + i) | high_bit(i)) - 16);
    out[i + 16] = d * static_cast<float>((high_nibble(nibbles + i) | high_bit(i + 16)) - 16);
  }
}

/// Six-bit scale and minimum of 32 columns number j of Q4_K, from twelve bytes: the first four of each lie in the low
/// six bits of bytes 0-3 and 4-7; of the last four, the low nibbles are in bytes 8-11 and the high bits on top of the
/// first ones.
struct ScaleMin {
  int scale, min;
};
ScaleMin scale_min_of(const std::byte* packed, int j) {
  if (j < 4) return {byte_at(packed + j) & 63, byte_at(packed + j + 4) & 63};
  return {low_nibble(packed + j + 4) | ((byte_at(packed + j - 4) >> 6) << 4),
          high_nibble(packed + j + 4) | ((byte_at(packed + j) >> 6) << 4)};
}

template <>
void dequantize_block<DType::kQ4_K>(const std::byte* block, float* out) {
  const float d = half_at(block), dmin = half_at(block + 2);
  for (int j = 0; j < 8; ++j) {
    const auto [scale, min] = scale_min_of(block + 4, j);
    const float step = d * static_cast<float>(scale), floor = dmin * static_cast<float>(min);
    const std::byte* nibbles = block + 16 + 32 * (j / 2);
    const int shift = 4 * (j % 2);
    for (int i = 0; i < 32; ++i) {
      out[32 * j + i] = step * static_cast<float>((byte_at(nibbles + i) >> shift) & 0xF) - floor;
    }
  }
}

template <>
void dequantize_block<DType::kQ6_K>(const std::byte* block, float* out) {
  const float d = half_at(block + 208);
  for (int j = 0; j < 16; ++j) {  // sixteen columns under one scale
    const int half = j / 8, group = (j % 8) / 2;
    const std::byte* low = block + 64 * half + 32 * (group % 2) + 16 * (j % 2);
    const std::byte* high = block + 128 + 32 * half + 16 * (j % 2);
    const float step = d * static_cast<float>(load_as<int8_t>(block + 192 + j));
    for (int i = 0; i < 16; ++i) {
      const int code =
          ((byte_at(low + i) >> (4 * (group / 2))) & 0xF) | (((byte_at(high + i) >> (2 * group)) & 3) << 4);
      out[16 * j + i] = step * static_cast<float>(code - 32);
    }
  }
}

}  // namespace

bool can_dequantize(DType dtype) { return block_layout(dtype).columns > 0; }

void dequantize_row(DType dtype, const std::byte* row, int64_t n, float* out) {
  const bool is_known = visit_panel_type(dtype, [&]<DType kType>() {
    constexpr BlockLayout kLayout = block_layout(kType);
    VITRO_DCHECK(n % kLayout.columns == 0);
    for (int64_t i = 0; i < n; i += kLayout.columns, row += kLayout.bytes()) dequantize_block<kType>(row, out + i);
  });
  VITRO_CHECK(is_known);
}

}  // namespace vitro
