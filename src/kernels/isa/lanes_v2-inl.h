// The lane type on x86-64-v2 (SSE4.2): four registers of four. See lanes_avx512-inl.h for what each function means and
// how to use it. There is no FMA here: fma multiplies, rounds, then adds. There is no F16C either: load_f16 computes
// the same bits with integers.
#define VITRO_LANE inline __attribute__((always_inline))

namespace vitro::VITRO_ISA_NS {

struct F32x16 {
  __m128 q0, q1, q2, q3;
};
struct I32x16 {
  __m128i q0, q1, q2, q3;
};
struct Mask16 {
  __m128 q0, q1, q2, q3;
};

inline constexpr int kLaneAccumulators = 2;

/// f on each register, or each pair of registers.
#define VITRO_MAP1(f, a) \
  { f(a.q0), f(a.q1), f(a.q2), f(a.q3) }
#define VITRO_MAP2(f, a, b) \
  { f(a.q0, b.q0), f(a.q1, b.q1), f(a.q2, b.q2), f(a.q3, b.q3) }

// Float lanes: memory.
VITRO_LANE F32x16 zero() { return {_mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps()}; }
VITRO_LANE F32x16 set1(float x) { return {_mm_set1_ps(x), _mm_set1_ps(x), _mm_set1_ps(x), _mm_set1_ps(x)}; }
VITRO_LANE F32x16 load(const float* p) {
  return {_mm_loadu_ps(p), _mm_loadu_ps(p + 4), _mm_loadu_ps(p + 8), _mm_loadu_ps(p + 12)};
}
VITRO_LANE void store(F32x16 a, float* p) {
  _mm_storeu_ps(p, a.q0);
  _mm_storeu_ps(p + 4, a.q1);
  _mm_storeu_ps(p + 8, a.q2);
  _mm_storeu_ps(p + 12, a.q3);
}
VITRO_LANE F32x16 load_partial(const float* p, int64_t n) {
  if (n >= 16) return load(p);
  alignas(16) float lanes[16] = {};
  for (int64_t i = 0; i < n; ++i) lanes[i] = p[i];
  return load(lanes);
}
VITRO_LANE void store_partial(F32x16 a, float* p, int64_t n) {
  if (n >= 16) return store(a, p);
  alignas(16) float lanes[16];
  store(a, lanes);
  for (int64_t i = 0; i < n; ++i) p[i] = lanes[i];
}
VITRO_LANE F32x16 load_halves(const float* p, const float* q) {
  return {_mm_loadu_ps(p), _mm_loadu_ps(p + 4), _mm_loadu_ps(q), _mm_loadu_ps(q + 4)};
}
VITRO_LANE void keep_in_register(F32x16& a) { asm("" : "+x"(a.q0), "+x"(a.q1), "+x"(a.q2), "+x"(a.q3)); }

// Float lanes: arithmetic.
VITRO_LANE F32x16 add(F32x16 a, F32x16 b) { return VITRO_MAP2(_mm_add_ps, a, b); }
VITRO_LANE F32x16 sub(F32x16 a, F32x16 b) { return VITRO_MAP2(_mm_sub_ps, a, b); }
VITRO_LANE F32x16 mul(F32x16 a, F32x16 b) { return VITRO_MAP2(_mm_mul_ps, a, b); }
VITRO_LANE F32x16 div(F32x16 a, F32x16 b) { return VITRO_MAP2(_mm_div_ps, a, b); }
VITRO_LANE F32x16 max(F32x16 a, F32x16 b) { return VITRO_MAP2(_mm_max_ps, a, b); }
VITRO_LANE F32x16 min(F32x16 a, F32x16 b) { return VITRO_MAP2(_mm_min_ps, a, b); }
/// a * b + c, rounded twice.
VITRO_LANE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) { return add(mul(a, b), c); }

// Integer lanes.
VITRO_LANE I32x16 set1(int32_t x) {
  return {_mm_set1_epi32(x), _mm_set1_epi32(x), _mm_set1_epi32(x), _mm_set1_epi32(x)};
}
VITRO_LANE __m128i load_16_bytes(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
VITRO_LANE I32x16 load_i32(const int32_t* p) {
  return {load_16_bytes(p), load_16_bytes(p + 4), load_16_bytes(p + 8), load_16_bytes(p + 12)};
}
VITRO_LANE I32x16 load_u8x16(const void* p) {
  const __m128i bytes = load_16_bytes(p);
  return {_mm_cvtepu8_epi32(bytes), _mm_cvtepu8_epi32(_mm_srli_si128(bytes, 4)),
          _mm_cvtepu8_epi32(_mm_srli_si128(bytes, 8)), _mm_cvtepu8_epi32(_mm_srli_si128(bytes, 12))};
}
VITRO_LANE I32x16 load_i8x16(const void* p) {
  const __m128i bytes = load_16_bytes(p);
  return {_mm_cvtepi8_epi32(bytes), _mm_cvtepi8_epi32(_mm_srli_si128(bytes, 4)),
          _mm_cvtepi8_epi32(_mm_srli_si128(bytes, 8)), _mm_cvtepi8_epi32(_mm_srli_si128(bytes, 12))};
}
VITRO_LANE I32x16 load_u16x16(const void* p) {
  const __m128i lo = load_16_bytes(p), hi = load_16_bytes(static_cast<const __m128i*>(p) + 1);
  return {_mm_cvtepu16_epi32(lo), _mm_cvtepu16_epi32(_mm_srli_si128(lo, 8)), _mm_cvtepu16_epi32(hi),
          _mm_cvtepu16_epi32(_mm_srli_si128(hi, 8))};
}
VITRO_LANE I32x16 add(I32x16 a, I32x16 b) { return VITRO_MAP2(_mm_add_epi32, a, b); }
VITRO_LANE I32x16 sub(I32x16 a, I32x16 b) { return VITRO_MAP2(_mm_sub_epi32, a, b); }
VITRO_LANE I32x16 and_(I32x16 a, I32x16 b) { return VITRO_MAP2(_mm_and_si128, a, b); }
VITRO_LANE I32x16 or_(I32x16 a, I32x16 b) { return VITRO_MAP2(_mm_or_si128, a, b); }
VITRO_LANE I32x16 bit_select(I32x16 mask, I32x16 a, I32x16 b) {
  const I32x16 rest = VITRO_MAP2(_mm_andnot_si128, mask, b);
  return or_(and_(mask, a), rest);
}
template <int n>
VITRO_LANE I32x16 shift_left(I32x16 a) {
  return {_mm_slli_epi32(a.q0, n), _mm_slli_epi32(a.q1, n), _mm_slli_epi32(a.q2, n), _mm_slli_epi32(a.q3, n)};
}
template <int n>
VITRO_LANE I32x16 shift_right_logical(I32x16 a) {
  return {_mm_srli_epi32(a.q0, n), _mm_srli_epi32(a.q1, n), _mm_srli_epi32(a.q2, n), _mm_srli_epi32(a.q3, n)};
}
VITRO_LANE I32x16 shift_right_logical(I32x16 a, int n) {
  const __m128i count = _mm_cvtsi32_si128(n);
  return {_mm_srl_epi32(a.q0, count), _mm_srl_epi32(a.q1, count), _mm_srl_epi32(a.q2, count),
          _mm_srl_epi32(a.q3, count)};
}

// Conversions.
VITRO_LANE F32x16 to_f32(I32x16 a) { return VITRO_MAP1(_mm_cvtepi32_ps, a); }
VITRO_LANE I32x16 round_to_i32(F32x16 a) { return VITRO_MAP1(_mm_cvtps_epi32, a); }
VITRO_LANE F32x16 as_f32(I32x16 bits) { return VITRO_MAP1(_mm_castsi128_ps, bits); }
VITRO_LANE I32x16 as_i32(F32x16 a) { return VITRO_MAP1(_mm_castps_si128, a); }
/// Two exact factors, so that only the second product can round. The arithmetic shift halves towards minus infinity.
VITRO_LANE __m128 power(__m128i n) {
  return _mm_castsi128_ps(_mm_slli_epi32(_mm_add_epi32(n, _mm_set1_epi32(127)), 23));
}
VITRO_LANE __m128 scale_by_power(__m128 a, __m128i n) {
  const __m128i half = _mm_srai_epi32(n, 1);
  return _mm_mul_ps(_mm_mul_ps(a, power(half)), power(_mm_sub_epi32(n, half)));
}
VITRO_LANE F32x16 scale_by_power(F32x16 a, I32x16 n) { return VITRO_MAP2(scale_by_power, a, n); }
VITRO_LANE F32x16 load_bf16(const void* p) { return as_f32(shift_left<16>(load_u16x16(p))); }

// Bytes.
VITRO_LANE I32x16 repeat_16_bytes(const void* p) {
  const __m128i bytes = load_16_bytes(p);
  return {bytes, bytes, bytes, bytes};
}
VITRO_LANE I32x16 look_up_bytes(I32x16 table, I32x16 idx) { return VITRO_MAP2(_mm_shuffle_epi8, table, idx); }

// Choosing lanes.
VITRO_LANE Mask16 less(F32x16 a, F32x16 b) { return VITRO_MAP2(_mm_cmplt_ps, a, b); }
VITRO_LANE Mask16 less(I32x16 a, I32x16 b) {
  return {_mm_castsi128_ps(_mm_cmplt_epi32(a.q0, b.q0)), _mm_castsi128_ps(_mm_cmplt_epi32(a.q1, b.q1)),
          _mm_castsi128_ps(_mm_cmplt_epi32(a.q2, b.q2)), _mm_castsi128_ps(_mm_cmplt_epi32(a.q3, b.q3))};
}
VITRO_LANE Mask16 is_nan(F32x16 a) { return VITRO_MAP2(_mm_cmpunord_ps, a, a); }
VITRO_LANE F32x16 select(Mask16 mask, F32x16 a, F32x16 b) {
  return {_mm_blendv_ps(b.q0, a.q0, mask.q0), _mm_blendv_ps(b.q1, a.q1, mask.q1), _mm_blendv_ps(b.q2, a.q2, mask.q2),
          _mm_blendv_ps(b.q3, a.q3, mask.q3)};
}
/// 0, 1, ..., 15.
VITRO_LANE I32x16 lane_index() {
  return {_mm_set_epi32(3, 2, 1, 0), _mm_set_epi32(7, 6, 5, 4), _mm_set_epi32(11, 10, 9, 8),
          _mm_set_epi32(15, 14, 13, 12)};
}
VITRO_LANE int32_t clamp_lane(int64_t n) { return static_cast<int32_t>(n < 0 ? 0 : n > 16 ? 16 : n); }
VITRO_LANE Mask16 lane_range(int64_t begin, int64_t end) {
  const Mask16 below = less(lane_index(), set1(clamp_lane(begin))), inside = less(lane_index(), set1(clamp_lane(end)));
  return VITRO_MAP2(_mm_andnot_ps, below, inside);
}

/// binary16: sign 1, exponent 5 (bias 15), fraction 10 bits. Normal numbers move the fraction up 13 bits and re-bias
/// the exponent by 112; subnormal ones are fraction * 2^-24; infinity and NaN (exponent 31) get exponent 255, NaN made
/// quiet as F16C does.
VITRO_LANE F32x16 load_f16(const void* p) {
  const I32x16 half = load_u16x16(p);
  const I32x16 sign = shift_left<16>(and_(half, set1(0x8000)));
  const I32x16 magnitude = and_(half, set1(0x7FFF));
  const I32x16 shifted = shift_left<13>(magnitude);
  const F32x16 normal = as_f32(add(shifted, set1(112 << 23)));
  const F32x16 subnormal = mul(to_f32(magnitude), set1(0x1p-24F));
  const F32x16 infinite = as_f32(or_(shifted, set1(0x7F800000)));
  const F32x16 nan = as_f32(or_(shifted, set1(0x7FC00000)));
  const F32x16 special = select(less(set1(0x7C00), magnitude), nan, infinite);
  const F32x16 finite = select(less(magnitude, set1(0x0400)), subnormal, normal);
  return as_f32(or_(as_i32(select(less(magnitude, set1(0x7C00)), finite, special)), sign));
}

// Reductions and permutations.
VITRO_LANE float reduce_add(F32x16 a) {
  const __m128 s4 = _mm_add_ps(_mm_add_ps(a.q0, a.q2), _mm_add_ps(a.q1, a.q3));
  const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_add_ss(s2, _mm_shuffle_ps(s2, s2, 1)));
}
VITRO_LANE float reduce_max(F32x16 a) {
  const __m128 s4 = _mm_max_ps(_mm_max_ps(a.q0, a.q2), _mm_max_ps(a.q1, a.q3));
  const __m128 s2 = _mm_max_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_max_ss(s2, _mm_shuffle_ps(s2, s2, 1)));
}
VITRO_LANE __m128 evens(__m128 a, __m128 b) { return _mm_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0)); }
VITRO_LANE __m128 odds(__m128 a, __m128 b) { return _mm_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1)); }
VITRO_LANE void split_pairs(F32x16 a, F32x16 b, F32x16& even, F32x16& odd) {
  even = {evens(a.q0, a.q1), evens(a.q2, a.q3), evens(b.q0, b.q1), evens(b.q2, b.q3)};
  odd = {odds(a.q0, a.q1), odds(a.q2, a.q3), odds(b.q0, b.q1), odds(b.q2, b.q3)};
}
VITRO_LANE void join_pairs(F32x16 even, F32x16 odd, F32x16& a, F32x16& b) {
  a = {_mm_unpacklo_ps(even.q0, odd.q0), _mm_unpackhi_ps(even.q0, odd.q0), _mm_unpacklo_ps(even.q1, odd.q1),
       _mm_unpackhi_ps(even.q1, odd.q1)};
  b = {_mm_unpacklo_ps(even.q2, odd.q2), _mm_unpackhi_ps(even.q2, odd.q2), _mm_unpacklo_ps(even.q3, odd.q3),
       _mm_unpackhi_ps(even.q3, odd.q3)};
}

#undef VITRO_MAP1
#undef VITRO_MAP2

}  // namespace vitro::VITRO_ISA_NS
