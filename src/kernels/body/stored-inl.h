// Elements of the key-value cache as float32 lanes: one Stored<type> for each CacheType. It says where sixteen elements
// come from (load; load_halves; load_partial, the first n only), how they widen to float32, and the factor kUnit that
// widening leaves to the scale. The value is widened element * (kUnit * scale); none of it rounds.
namespace vitro::VITRO_ISA_NS {

struct FloatMemory {
  static VITRO_LANE const float* floats(const std::byte* p) { return reinterpret_cast<const float*>(p); }
  static VITRO_LANE F32x16 load(const std::byte* p) { return VITRO_ISA_NS::load(floats(p)); }
  static VITRO_LANE F32x16 load_halves(const std::byte* p, const std::byte* q) {
    return VITRO_ISA_NS::load_halves(floats(p), floats(q));
  }
  static VITRO_LANE F32x16 load_partial(const std::byte* p, int64_t n) {
    return VITRO_ISA_NS::load_partial(floats(p), n);
  }
};
struct WordMemory {
  static VITRO_LANE Words16 load(const std::byte* p) { return load_words(p); }
  static VITRO_LANE Words16 load_halves(const std::byte* p, const std::byte* q) { return load_words_halves(p, q); }
  static VITRO_LANE Words16 load_partial(const std::byte* p, int64_t n) { return load_words_partial(p, n); }
};
struct ByteMemory {
  static VITRO_LANE Bytes16 load(const std::byte* p) { return load_bytes(p); }
  static VITRO_LANE Bytes16 load_halves(const std::byte* p, const std::byte* q) { return load_bytes_halves(p, q); }
  static VITRO_LANE Bytes16 load_partial(const std::byte* p, int64_t n) { return load_bytes_partial(p, n); }
};

template <CacheType kType>
struct Stored;
template <>
struct Stored<CacheType::kF32> : FloatMemory {
  static VITRO_LANE F32x16 widen(F32x16 a) { return a; }
};
template <>
struct Stored<CacheType::kF16> : WordMemory {
  static VITRO_LANE F32x16 widen(Words16 a) { return widen_f16(a); }
};
template <>
struct Stored<CacheType::kBF16> : WordMemory {
  static VITRO_LANE F32x16 widen(Words16 a) { return widen_bf16(a); }
};
template <>
struct Stored<CacheType::kInt8> : ByteMemory {
  static constexpr float kUnit = 1;
  static VITRO_LANE F32x16 widen(Bytes16 a) { return to_f32(widen_i8(a)); }
};
template <>
struct Stored<CacheType::kQ8_0> : Stored<CacheType::kInt8> {};
template <>
struct Stored<CacheType::kFp8> : ByteMemory {
  static constexpr float kUnit = 256;
  static VITRO_LANE F32x16 widen(Bytes16 a) { return widen_e4m3_256th(a); }
};

template <CacheType kType>
inline constexpr int64_t kElementBytes = cache_type_info(kType).element_bytes;
inline constexpr int64_t kScaleBytes = 2;
template <CacheType kType>
inline constexpr bool kIsScaled = cache_type_info(kType).scale_block != 0;
/// Columns from one scale to the next, as many as there are where the whole head shares one.
template <CacheType kType>
inline constexpr int64_t kScaleColumns = cache_type_info(kType).scale_block < 0 ? INT64_MAX
                                                                                : cache_type_info(kType).scale_block;

/// What widened elements are multiplied by.
template <CacheType kType>
VITRO_LANE F32x16 in_units(F32x16 scale) {
  if constexpr (Stored<kType>::kUnit == 1) return scale;
  return mul(scale, set1(Stored<kType>::kUnit));
}

}  // namespace vitro::VITRO_ISA_NS
