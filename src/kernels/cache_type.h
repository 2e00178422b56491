// How the key-value cache stores its numbers. Attention reads keys and values only as they are stored here, so a type
// means the same with and without a cache, and each stored value stands for exactly one float32.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace vitro {

/// X-macro: enum name, printed name, bytes an element, values of a head that share a scale (0: unscaled, -1: the whole
/// head), what it is. Scaled types: value = scale * element, the scale a float16, the product exact in float32.
// clang-format off
#define VITRO_CACHE_TYPES(X)                                                                        \
  X(kF32, "f32", 4, 0, "float32")                                                                   \
  X(kF16, "f16", 2, 0, "IEEE float16, rounded to nearest even; larger values become infinite")      \
  X(kBF16, "bf16", 2, 0, "bfloat16, rounded to nearest even")                                       \
  X(kQ8_0, "q8_0", 1, 32, "int8 with a scale for 32 values: scale = max|x| / 127, as GGUF's Q8_0")  \
  X(kInt8, "int8", 1, -1, "int8 with a scale a head and position")                                  \
  X(kFp8, "fp8", 1, -1, "FP8 E4M3 (Micikevicius et al. 2022, arXiv 2209.05433), scale = max|x| / 448 a head and position")
// clang-format on

enum class CacheType : uint8_t {
#define VITRO_X(name, text, bytes, scaled, doc) name,
  VITRO_CACHE_TYPES(VITRO_X)
#undef VITRO_X
};
inline constexpr int kNCacheTypes = static_cast<int>(CacheType::kFp8) + 1;

struct CacheTypeInfo {
  std::string_view name;
  int64_t element_bytes;
  int64_t scale_block;
  std::string_view meaning;
};

inline constexpr CacheTypeInfo kCacheTypeInfos[] = {
#define VITRO_X(name, text, bytes, scaled, doc) {text, bytes, scaled, doc},
    VITRO_CACHE_TYPES(VITRO_X)
#undef VITRO_X
};

constexpr const CacheTypeInfo& cache_type_info(CacheType type) { return kCacheTypeInfos[static_cast<int>(type)]; }

constexpr std::optional<CacheType> cache_type_from_name(std::string_view name) {
  for (int i = 0; i < kNCacheTypes; ++i) {
    if (cache_type_info(static_cast<CacheType>(i)).name == name) return static_cast<CacheType>(i);
  }
  return std::nullopt;
}

/// Values of a head of this width that share a scale; 0 for unscaled types.
constexpr int64_t cache_scale_block(CacheType type, int64_t d_head) {
  const int64_t block = cache_type_info(type).scale_block;
  return block < 0 ? d_head : block;
}
/// Scales of one head at one position. d_head must be whole blocks.
constexpr int64_t cache_n_scales(CacheType type, int64_t d_head) {
  const int64_t block = cache_scale_block(type, d_head);
  return block == 0 ? 0 : d_head / block;
}
/// Bytes of one head's key (or value) at one position.
constexpr int64_t cache_row_bytes(CacheType type, int64_t d_head) {
  return d_head * cache_type_info(type).element_bytes + cache_n_scales(type, d_head) * 2;
}

}  // namespace vitro
