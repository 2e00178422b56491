// Values of a file row as float32. Each overload of dequantize_block is the formula of its format
// (tensor/quant_block.h), operation by operation as the gguf package does it, so the results are equal bit for bit;
// plain numbers are converted as NumPy does it, to the nearest float32. A type without an overload is not known.
#include <cmath>
#include <cstring>
#include <type_traits>

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
using Type = std::integral_constant<DType, kType>;

template <class T>
float number_at(const std::byte* p) {
  return static_cast<float>(load_as<T>(p));
}
void dequantize_block(Type<DType::kF64>, const std::byte* p, float* out) { *out = number_at<double>(p); }
void dequantize_block(Type<DType::kF32>, const std::byte* p, float* out) { *out = number_at<float>(p); }
void dequantize_block(Type<DType::kF16>, const std::byte* p, float* out) { *out = half_at(p); }
void dequantize_block(Type<DType::kBF16>, const std::byte* p, float* out) { *out = bf16_to_f32(load_as<uint16_t>(p)); }
void dequantize_block(Type<DType::kI8>, const std::byte* p, float* out) { *out = number_at<int8_t>(p); }
void dequantize_block(Type<DType::kI16>, const std::byte* p, float* out) { *out = number_at<int16_t>(p); }
void dequantize_block(Type<DType::kI32>, const std::byte* p, float* out) { *out = number_at<int32_t>(p); }
void dequantize_block(Type<DType::kI64>, const std::byte* p, float* out) { *out = number_at<int64_t>(p); }
void dequantize_block(Type<DType::kU8>, const std::byte* p, float* out) { *out = number_at<uint8_t>(p); }
void dequantize_block(Type<DType::kU16>, const std::byte* p, float* out) { *out = number_at<uint16_t>(p); }
void dequantize_block(Type<DType::kU32>, const std::byte* p, float* out) { *out = number_at<uint32_t>(p); }
void dequantize_block(Type<DType::kU64>, const std::byte* p, float* out) { *out = number_at<uint64_t>(p); }
void dequantize_block(Type<DType::kBool>, const std::byte* p, float* out) { *out = byte_at(p) != 0 ? 1.0F : 0.0F; }

void dequantize_block(Type<DType::kQ8_0>, const std::byte* block, float* out) {
  const float d = half_at(block);
  for (int i = 0; i < 32; ++i) out[i] = d * number_at<int8_t>(block + 2 + i);
}

/// out[i] = weight(i, q[i]) for 32 columns, whose four-bit codes are q[i] and, on top, q[i + 16] in sixteen bytes.
template <class Weight>
void dequantize_nibbles(const std::byte* nibbles, float* out, Weight weight) {
  for (int i = 0; i < 16; ++i) {
    out[i] = weight(i, low_nibble(nibbles + i));
    out[i + 16] = weight(i + 16, high_nibble(nibbles + i));
  }
}

void dequantize_block(Type<DType::kQ4_0>, const std::byte* block, float* out) {
  const float d = half_at(block);
  dequantize_nibbles(block + 2, out, [=](int, int q) { return d * static_cast<float>(q - 8); });
}

void dequantize_block(Type<DType::kQ4_1>, const std::byte* block, float* out) {
  const float d = half_at(block), m = half_at(block + 2);
  dequantize_nibbles(block + 4, out, [=](int, int q) { return d * static_cast<float>(q) + m; });
}

/// Bit i of 32 high bits as bit 4.
int fifth_bit(uint32_t high, int i) { return static_cast<int>((high >> i) & 1U) << 4; }

void dequantize_block(Type<DType::kQ5_0>, const std::byte* block, float* out) {
  const float d = half_at(block);
  const auto high = load_as<uint32_t>(block + 2);
  dequantize_nibbles(block + 6, out,
                     [=](int i, int q) { return d * static_cast<float>((q | fifth_bit(high, i)) - 16); });
}

void dequantize_block(Type<DType::kQ5_1>, const std::byte* block, float* out) {
  const float d = half_at(block), m = half_at(block + 2);
  const auto high = load_as<uint32_t>(block + 4);
  dequantize_nibbles(block + 8, out, [=](int i, int q) { return d * static_cast<float>(q | fifth_bit(high, i)) + m; });
}

void dequantize_block(Type<DType::kIQ4_NL>, const std::byte* block, float* out) {
  const float d = half_at(block);
  dequantize_nibbles(block + 2, out, [=](int, int q) { return d * static_cast<float>(kIq4Values[q]); });
}

void dequantize_block(Type<DType::kMXFP4>, const std::byte* block, float* out) {
  const float d = std::ldexp(1.0F, byte_at(block) - 128);
  dequantize_nibbles(block + 1, out, [=](int, int q) { return d * static_cast<float>(kE2m1Values[q]); });
}

void dequantize_block(Type<DType::kQ2_K>, const std::byte* block, float* out) {
  const float d = half_at(block + 80), dmin = half_at(block + 82);
  for (int j = 0; j < 16; ++j) {  // sixteen columns under one scale
    const std::byte* pairs = block + 16 + 32 * (j / 8) + 16 * (j % 2);
    const int shift = 2 * (j % 8 / 2);
    const float step = d * static_cast<float>(low_nibble(block + j));
    const float floor = dmin * static_cast<float>(high_nibble(block + j));
    for (int i = 0; i < 16; ++i) out[16 * j + i] = step * static_cast<float>((byte_at(pairs + i) >> shift) & 3) - floor;
  }
}

/// Six-bit scale of sixteen columns number j of Q3_K, from twelve bytes: the low nibbles of the first eight scales lie
/// in the low nibbles of bytes 0-7, of the last eight in the high ones; bytes 8-11 have the high bit pairs of scales
/// j, j + 4, j + 8, j + 12.
int q3_scale_of(const std::byte* packed, int j) {
  const int low = (byte_at(packed + j % 8) >> (4 * (j / 8))) & 0xF;
  return low | (((byte_at(packed + 8 + j % 4) >> (2 * (j / 4))) & 3) << 4);
}

void dequantize_block(Type<DType::kQ3_K>, const std::byte* block, float* out) {
  const float d = half_at(block + 108);
  for (int j = 0; j < 16; ++j) {  // sixteen columns under one scale
    const std::byte* high = block + 16 * (j % 2);
    const std::byte* pairs = block + 32 + 32 * (j / 8) + 16 * (j % 2);
    const int shift = 2 * (j % 8 / 2);
    const float step = d * static_cast<float>(q3_scale_of(block + 96, j) - 32);
    for (int i = 0; i < 16; ++i) {
      const int code = ((byte_at(pairs + i) >> shift) & 3) | (((byte_at(high + i) >> (j / 2)) & 1) << 2);
      out[16 * j + i] = step * static_cast<float>(code - 4);
    }
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

/// Q4_K, and Q5_K with high_bit(j, i) as bit 4 of the code of column 32 j + i.
template <class HighBit>
void dequantize_scale_min(const std::byte* block, const std::byte* nibbles, float* out, HighBit high_bit) {
  const float d = half_at(block), dmin = half_at(block + 2);
  for (int j = 0; j < 8; ++j) {
    const auto [scale, min] = scale_min_of(block + 4, j);
    const float step = d * static_cast<float>(scale), floor = dmin * static_cast<float>(min);
    for (int i = 0; i < 32; ++i) {
      const int low = (byte_at(nibbles + 32 * (j / 2) + i) >> (4 * (j % 2))) & 0xF;
      out[32 * j + i] = step * static_cast<float>(low | high_bit(j, i)) - floor;
    }
  }
}

void dequantize_block(Type<DType::kQ4_K>, const std::byte* block, float* out) {
  dequantize_scale_min(block, block + 16, out, [](int, int) { return 0; });
}

void dequantize_block(Type<DType::kQ5_K>, const std::byte* block, float* out) {
  const std::byte* high = block + 16;
  dequantize_scale_min(block, block + 48, out, [=](int j, int i) { return ((byte_at(high + i) >> j) & 1) << 4; });
}

void dequantize_block(Type<DType::kQ6_K>, const std::byte* block, float* out) {
  const float d = half_at(block + 208);
  for (int j = 0; j < 16; ++j) {  // sixteen columns under one scale
    const int half = j / 8, group = (j % 8) / 2;
    const std::byte* low = block + 64 * half + 32 * (group % 2) + 16 * (j % 2);
    const std::byte* high = block + 128 + 32 * half + 16 * (j % 2);
    const float step = d * number_at<int8_t>(block + 192 + j);
    for (int i = 0; i < 16; ++i) {
      const int code =
          ((byte_at(low + i) >> (4 * (group / 2))) & 0xF) | (((byte_at(high + i) >> (2 * group)) & 3) << 4);
      out[16 * j + i] = step * static_cast<float>(code - 32);
    }
  }
}

void dequantize_block(Type<DType::kIQ4_XS>, const std::byte* block, float* out) {
  const float d = half_at(block);
  const auto high_pairs = load_as<uint16_t>(block + 2);
  for (int j = 0; j < 8; ++j) {  // 32 columns under one scale
    const int low = (byte_at(block + 4 + j / 2) >> (4 * (j % 2))) & 0xF;
    const int scale = low | (((high_pairs >> (2 * j)) & 3) << 4);
    const float step = d * static_cast<float>(scale - 32);
    dequantize_nibbles(block + 8 + 16 * j, out + 32 * j,
                       [=](int, int q) { return step * static_cast<float>(kIq4Values[q]); });
  }
}

using RowFn = void (*)(const std::byte* row, int64_t n, float* out);

template <DType kType>
concept Known = requires(const std::byte* block, float* out) {
  dequantize_block(Type<kType>(), block, out);
};

/// Null for a type that is not known.
template <DType kType, int kColumns, int kBytes>
constexpr RowFn row_fn() {
  if constexpr (Known<kType>) {
    return [](const std::byte* row, int64_t n, float* out) {
      VITRO_DCHECK(n % kColumns == 0);
      for (int64_t i = 0; i < n; i += kColumns, row += kBytes) dequantize_block(Type<kType>(), row, out + i);
    };
  }
  return nullptr;
}

constexpr RowFn kRowFns[] = {
#define VITRO_X(name, text, elements, n_bytes, gguf) row_fn<DType::name, elements, n_bytes>(),
    VITRO_DTYPES(VITRO_X)
#undef VITRO_X
};

}  // namespace

bool can_dequantize(DType dtype) { return kRowFns[static_cast<size_t>(dtype)] != nullptr; }

void dequantize_row(DType dtype, const std::byte* row, int64_t n, float* out) {
  VITRO_CHECK(can_dequantize(dtype));
  kRowFns[static_cast<size_t>(dtype)](row, n, out);
}

}  // namespace vitro
