// The lane type on AVX2, FMA and F16C: two registers of eight. See lanes_avx512-inl.h for what each function means and
// how to use it.
#define VITRO_LANE inline __attribute__((always_inline))

namespace vitro::VITRO_ISA_NS {

struct F32x16 {
  __m256 lo, hi;
};
struct I32x16 {
  __m256i lo, hi;
};
struct Mask16 {
  __m256 lo, hi;
};

inline constexpr int kLaneAccumulators = 4;

/// Eight int32 lanes, all ones where first_lane + i < n.
VITRO_LANE __m256i first_lanes(int first_lane, int64_t n) {
  const int bound = static_cast<int>(n < 0 ? 0 : n > 16 ? 16 : n) - first_lane;
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(bound), _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
}

// Float lanes: memory.
VITRO_LANE F32x16 zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
VITRO_LANE F32x16 set1(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
VITRO_LANE F32x16 load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
/// A constant n >= 16, as in the whole vectors of for_each_vector, needs no mask.
VITRO_LANE bool is_known_whole(int64_t n) { return __builtin_constant_p(n) && n >= 16; }
VITRO_LANE F32x16 load_partial(const float* p, int64_t n) {
  if (n >= 16) return load(p);
  if (is_known_whole(n)) return load(p);
  return {_mm256_maskload_ps(p, first_lanes(0, n)), _mm256_maskload_ps(p + 8, first_lanes(8, n))};
}
VITRO_LANE void store(F32x16 a, float* p) {
  _mm256_storeu_ps(p, a.lo);
  _mm256_storeu_ps(p + 8, a.hi);
}
VITRO_LANE void store_partial(F32x16 a, float* p, int64_t n) {
  if (n >= 16) return store(a, p);  // masked stores are slow on some processors
  if (is_known_whole(n)) return store(a, p);
  _mm256_maskstore_ps(p, first_lanes(0, n), a.lo);
  _mm256_maskstore_ps(p + 8, first_lanes(8, n), a.hi);
}
VITRO_LANE F32x16 load_halves(const float* p, const float* q) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(q)}; }
VITRO_LANE void keep_in_register(F32x16& a) { asm("" : "+x"(a.lo), "+x"(a.hi)); }

// Float lanes: arithmetic.
VITRO_LANE F32x16 add(F32x16 a, F32x16 b) { return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)}; }
VITRO_LANE F32x16 sub(F32x16 a, F32x16 b) { return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)}; }
VITRO_LANE F32x16 mul(F32x16 a, F32x16 b) { return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)}; }
VITRO_LANE F32x16 div(F32x16 a, F32x16 b) { return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)}; }
VITRO_LANE F32x16 max(F32x16 a, F32x16 b) { return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)}; }
VITRO_LANE F32x16 min(F32x16 a, F32x16 b) { return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)}; }
VITRO_LANE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}

// Integer lanes.
VITRO_LANE I32x16 set1(int32_t x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
VITRO_LANE I32x16 load_i32(const int32_t* p) {
  const auto* q = reinterpret_cast<const __m256i*>(p);
  return {_mm256_loadu_si256(q), _mm256_loadu_si256(q + 1)};
}
VITRO_LANE __m128i load_16_bytes(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
VITRO_LANE I32x16 load_u8x16(const void* p) {
  const __m128i bytes = load_16_bytes(p);
  return {_mm256_cvtepu8_epi32(bytes), _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8))};
}
VITRO_LANE I32x16 load_i8x16(const void* p) {
  const __m128i bytes = load_16_bytes(p);
  return {_mm256_cvtepi8_epi32(bytes), _mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8))};
}
VITRO_LANE I32x16 load_u16x16(const void* p) {
  const auto* q = static_cast<const __m128i*>(p);
  return {_mm256_cvtepu16_epi32(_mm_loadu_si128(q)), _mm256_cvtepu16_epi32(_mm_loadu_si128(q + 1))};
}
VITRO_LANE I32x16 add(I32x16 a, I32x16 b) { return {_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)}; }
VITRO_LANE I32x16 sub(I32x16 a, I32x16 b) { return {_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)}; }
VITRO_LANE I32x16 and_(I32x16 a, I32x16 b) { return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)}; }
VITRO_LANE I32x16 or_(I32x16 a, I32x16 b) { return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)}; }
VITRO_LANE I32x16 bit_select(I32x16 mask, I32x16 a, I32x16 b) {
  return or_(and_(mask, a), {_mm256_andnot_si256(mask.lo, b.lo), _mm256_andnot_si256(mask.hi, b.hi)});
}
template <int n>
VITRO_LANE I32x16 shift_left(I32x16 a) {
  return {_mm256_slli_epi32(a.lo, n), _mm256_slli_epi32(a.hi, n)};
}
template <int n>
VITRO_LANE I32x16 shift_right_logical(I32x16 a) {
  return {_mm256_srli_epi32(a.lo, n), _mm256_srli_epi32(a.hi, n)};
}
VITRO_LANE I32x16 shift_right_logical(I32x16 a, int n) {
  const __m128i count = _mm_cvtsi32_si128(n);
  return {_mm256_srl_epi32(a.lo, count), _mm256_srl_epi32(a.hi, count)};
}

// Conversions.
VITRO_LANE F32x16 to_f32(I32x16 a) { return {_mm256_cvtepi32_ps(a.lo), _mm256_cvtepi32_ps(a.hi)}; }
VITRO_LANE I32x16 round_to_i32(F32x16 a) { return {_mm256_cvtps_epi32(a.lo), _mm256_cvtps_epi32(a.hi)}; }
VITRO_LANE F32x16 as_f32(I32x16 bits) { return {_mm256_castsi256_ps(bits.lo), _mm256_castsi256_ps(bits.hi)}; }
VITRO_LANE I32x16 as_i32(F32x16 a) { return {_mm256_castps_si256(a.lo), _mm256_castps_si256(a.hi)}; }
/// Two exact factors, so that only the second product can round. The arithmetic shift halves towards minus infinity.
VITRO_LANE __m256 power(__m256i n) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}
VITRO_LANE __m256 scale_by_power(__m256 a, __m256i n) {
  const __m256i half = _mm256_srai_epi32(n, 1);
  return _mm256_mul_ps(_mm256_mul_ps(a, power(half)), power(_mm256_sub_epi32(n, half)));
}
VITRO_LANE F32x16 scale_by_power(F32x16 a, I32x16 n) {
  return {scale_by_power(a.lo, n.lo), scale_by_power(a.hi, n.hi)};
}
VITRO_LANE F32x16 load_bf16(const void* p) { return as_f32(shift_left<16>(load_u16x16(p))); }
VITRO_LANE F32x16 load_f16(const void* p) {
  const auto* q = static_cast<const __m128i*>(p);
  return {_mm256_cvtph_ps(_mm_loadu_si128(q)), _mm256_cvtph_ps(_mm_loadu_si128(q + 1))};
}

// Bytes.
VITRO_LANE I32x16 repeat_16_bytes(const void* p) {
  const __m256i both = _mm256_broadcastsi128_si256(load_16_bytes(p));
  return {both, both};
}
VITRO_LANE I32x16 look_up_bytes(I32x16 table, I32x16 idx) {
  return {_mm256_shuffle_epi8(table.lo, idx.lo), _mm256_shuffle_epi8(table.hi, idx.hi)};
}

// Choosing lanes.
VITRO_LANE Mask16 less(F32x16 a, F32x16 b) {
  return {_mm256_cmp_ps(a.lo, b.lo, _CMP_LT_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_LT_OQ)};
}
VITRO_LANE Mask16 is_nan(F32x16 a) {
  return {_mm256_cmp_ps(a.lo, a.lo, _CMP_UNORD_Q), _mm256_cmp_ps(a.hi, a.hi, _CMP_UNORD_Q)};
}
VITRO_LANE Mask16 lane_range(int64_t begin, int64_t end) {
  const __m256i lo = _mm256_andnot_si256(first_lanes(0, begin), first_lanes(0, end));
  const __m256i hi = _mm256_andnot_si256(first_lanes(8, begin), first_lanes(8, end));
  return {_mm256_castsi256_ps(lo), _mm256_castsi256_ps(hi)};
}
VITRO_LANE F32x16 select(Mask16 mask, F32x16 a, F32x16 b) {
  return {_mm256_blendv_ps(b.lo, a.lo, mask.lo), _mm256_blendv_ps(b.hi, a.hi, mask.hi)};
}

// Reductions and permutations.
VITRO_LANE float reduce_add(F32x16 a) {
  const __m256 s8 = _mm256_add_ps(a.lo, a.hi);
  const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_add_ss(s2, _mm_shuffle_ps(s2, s2, 1)));
}
VITRO_LANE float reduce_max(F32x16 a) {
  const __m256 s8 = _mm256_max_ps(a.lo, a.hi);
  const __m128 s4 = _mm_max_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  const __m128 s2 = _mm_max_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_max_ss(s2, _mm_shuffle_ps(s2, s2, 1)));
}
/// Exchanges the middle two quarters of eight lanes, which the in-lane shuffles leave in the wrong order.
VITRO_LANE __m256 swap_middle(__m256 a) {
  return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(a), _MM_SHUFFLE(3, 1, 2, 0)));
}
VITRO_LANE void split_pairs(F32x16 a, F32x16 b, F32x16& even, F32x16& odd) {
  even = {swap_middle(_mm256_shuffle_ps(a.lo, a.hi, _MM_SHUFFLE(2, 0, 2, 0))),
          swap_middle(_mm256_shuffle_ps(b.lo, b.hi, _MM_SHUFFLE(2, 0, 2, 0)))};
  odd = {swap_middle(_mm256_shuffle_ps(a.lo, a.hi, _MM_SHUFFLE(3, 1, 3, 1))),
         swap_middle(_mm256_shuffle_ps(b.lo, b.hi, _MM_SHUFFLE(3, 1, 3, 1)))};
}
VITRO_LANE void join_pairs(F32x16 even, F32x16 odd, F32x16& a, F32x16& b) {
  const __m256 even_lo = swap_middle(even.lo), odd_lo = swap_middle(odd.lo);
  const __m256 even_hi = swap_middle(even.hi), odd_hi = swap_middle(odd.hi);
  a = {_mm256_unpacklo_ps(even_lo, odd_lo), _mm256_unpackhi_ps(even_lo, odd_lo)};
  b = {_mm256_unpacklo_ps(even_hi, odd_hi), _mm256_unpackhi_ps(even_hi, odd_hi)};
}

}  // namespace vitro::VITRO_ISA_NS
