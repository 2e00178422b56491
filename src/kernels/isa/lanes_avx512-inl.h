// The thin lane type: sixteen float32 (or int32) lanes and the few functions that kernel bodies need, the same set in
// lanes_avx512 (one register), lanes_avx2 (two) and lanes_v2 (four). Equal names give equal results on every
// instruction set, except fma, which x86-64-v2 does as multiply, then add. How a .cc uses it:
//   #include <immintrin.h>, std headers, "kernels/table.h"      everything else above the region
//   #include "kernels/isa/open_avx512-inl.h"                    opens the target region, defines VITRO_ISA_NS
//   #include "kernels/isa/lanes_avx512-inl.h", "kernels/body/<algorithm>-inl.h"   (the body: namespace
//   vitro::VITRO_ISA_NS { ... })
//   ... fill the table: names are vitro::avx512::... ...
//   #include "kernels/isa/close-inl.h"
// Pointers need no alignment. *_partial(p, n) touch only the first n lanes (n <= 0: none, n >= 16: all); lanes beyond
// load as zero. Reductions are one fixed tree: lane i with i + 8, then + 4, + 2, + 1.
#define VITRO_LANE inline __attribute__((always_inline))

namespace vitro::VITRO_ISA_NS {

struct F32x16 {
  __m512 v;
};
struct I32x16 {
  __m512i v;
};
struct Mask16 {
  __mmask16 v;
};

/// How many F32x16 accumulators a body may hold in registers, with room for what it multiplies.
inline constexpr int kLaneAccumulators = 16;

VITRO_LANE __mmask16 first_lanes(int64_t n) {
  const uint32_t count = n <= 0 ? 0U : n >= 16 ? 16U : static_cast<uint32_t>(n);
  return static_cast<__mmask16>((1U << count) - 1U);
}

// Float lanes: memory.
VITRO_LANE F32x16 zero() { return {_mm512_setzero_ps()}; }
VITRO_LANE F32x16 set1(float x) { return {_mm512_set1_ps(x)}; }
VITRO_LANE F32x16 load(const float* p) { return {_mm512_loadu_ps(p)}; }
VITRO_LANE F32x16 load_partial(const float* p, int64_t n) { return {_mm512_maskz_loadu_ps(first_lanes(n), p)}; }
VITRO_LANE void store(F32x16 a, float* p) { _mm512_storeu_ps(p, a.v); }
VITRO_LANE void store_partial(F32x16 a, float* p, int64_t n) { _mm512_mask_storeu_ps(p, first_lanes(n), a.v); }
/// Lanes 0-7 from p, 8-15 from q.
VITRO_LANE F32x16 load_halves(const float* p, const float* q) {
  return {_mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(p)), _mm256_loadu_ps(q), 1)};
}

/// Makes the compiler load a once and keep it, where it would load it anew as the memory operand of every instruction
/// that uses it.
VITRO_LANE void keep_in_register(F32x16& a) { asm("" : "+v"(a.v)); }

// Float lanes: arithmetic. max and min give b where either is NaN.
VITRO_LANE F32x16 add(F32x16 a, F32x16 b) { return {_mm512_add_ps(a.v, b.v)}; }
VITRO_LANE F32x16 sub(F32x16 a, F32x16 b) { return {_mm512_sub_ps(a.v, b.v)}; }
VITRO_LANE F32x16 mul(F32x16 a, F32x16 b) { return {_mm512_mul_ps(a.v, b.v)}; }
VITRO_LANE F32x16 div(F32x16 a, F32x16 b) { return {_mm512_div_ps(a.v, b.v)}; }
VITRO_LANE F32x16 max(F32x16 a, F32x16 b) { return {_mm512_max_ps(a.v, b.v)}; }
VITRO_LANE F32x16 min(F32x16 a, F32x16 b) { return {_mm512_min_ps(a.v, b.v)}; }
/// a * b + c, rounded once.
VITRO_LANE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }

// Integer lanes.
VITRO_LANE I32x16 set1(int32_t x) { return {_mm512_set1_epi32(x)}; }
VITRO_LANE I32x16 load_i32(const int32_t* p) { return {_mm512_loadu_si512(p)}; }
VITRO_LANE __m128i load_16_bytes(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
VITRO_LANE I32x16 load_u8x16(const void* p) { return {_mm512_cvtepu8_epi32(load_16_bytes(p))}; }
VITRO_LANE I32x16 load_i8x16(const void* p) { return {_mm512_cvtepi8_epi32(load_16_bytes(p))}; }
VITRO_LANE I32x16 load_u16x16(const void* p) {
  return {_mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(p)))};
}
VITRO_LANE I32x16 add(I32x16 a, I32x16 b) { return {_mm512_add_epi32(a.v, b.v)}; }
VITRO_LANE I32x16 sub(I32x16 a, I32x16 b) { return {_mm512_sub_epi32(a.v, b.v)}; }
VITRO_LANE I32x16 and_(I32x16 a, I32x16 b) { return {_mm512_and_si512(a.v, b.v)}; }
VITRO_LANE I32x16 or_(I32x16 a, I32x16 b) { return {_mm512_or_si512(a.v, b.v)}; }
/// Bit by bit mask ? a : b.
VITRO_LANE I32x16 bit_select(I32x16 mask, I32x16 a, I32x16 b) {
  return {_mm512_ternarylogic_epi32(a.v, b.v, mask.v, 0xE4)};
}
template <int n>
VITRO_LANE I32x16 shift_left(I32x16 a) {
  return {_mm512_slli_epi32(a.v, n)};
}
template <int n>
VITRO_LANE I32x16 shift_right_logical(I32x16 a) {
  return {_mm512_srli_epi32(a.v, n)};
}
/// All lanes by the same n, 0 <= n < 32.
VITRO_LANE I32x16 shift_right_logical(I32x16 a, int n) { return {_mm512_srl_epi32(a.v, _mm_cvtsi32_si128(n))}; }

// Conversions. round_to_i32 rounds to nearest, ties to even; the value must fit.
VITRO_LANE F32x16 to_f32(I32x16 a) { return {_mm512_cvtepi32_ps(a.v)}; }
VITRO_LANE I32x16 round_to_i32(F32x16 a) { return {_mm512_cvtps_epi32(a.v)}; }
VITRO_LANE F32x16 as_f32(I32x16 bits) { return {_mm512_castsi512_ps(bits.v)}; }
VITRO_LANE I32x16 as_i32(F32x16 a) { return {_mm512_castps_si512(a.v)}; }
/// a * 2^n, rounded once (so subnormal results are right too); -252 <= n <= 254.
VITRO_LANE F32x16 scale_by_power(F32x16 a, I32x16 n) { return {_mm512_scalef_ps(a.v, _mm512_cvtepi32_ps(n.v))}; }
/// Sixteen bfloat16 or float16 values (32 bytes) as float32, exactly.
VITRO_LANE F32x16 load_bf16(const void* p) { return as_f32(shift_left<16>(load_u16x16(p))); }
VITRO_LANE F32x16 load_f16(const void* p) {
  return {_mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p)))};
}

// Bytes, four a lane: each byte of idx (at most 15) becomes that one of the sixteen bytes which table repeats.
VITRO_LANE I32x16 repeat_16_bytes(const void* p) { return {_mm512_broadcast_i32x4(load_16_bytes(p))}; }
VITRO_LANE I32x16 look_up_bytes(I32x16 table, I32x16 idx) { return {_mm512_shuffle_epi8(table.v, idx.v)}; }

// Choosing lanes. Comparisons with NaN are false.
VITRO_LANE Mask16 less(F32x16 a, F32x16 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)}; }
VITRO_LANE Mask16 is_nan(F32x16 a) { return {_mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q)}; }
/// Lanes begin <= i < end; both may lie outside 0..16.
VITRO_LANE Mask16 lane_range(int64_t begin, int64_t end) {
  return {static_cast<__mmask16>(first_lanes(end) & ~first_lanes(begin))};
}
/// mask ? a : b
VITRO_LANE F32x16 select(Mask16 mask, F32x16 a, F32x16 b) { return {_mm512_mask_blend_ps(mask.v, b.v, a.v)}; }

// Reductions and permutations.
VITRO_LANE __m256 upper_half(F32x16 a) { return _mm512_extractf32x8_ps(a.v, 1); }
VITRO_LANE float reduce_add(F32x16 a) {
  const __m256 s8 = _mm256_add_ps(_mm512_castps512_ps256(a.v), upper_half(a));
  const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_add_ss(s2, _mm_shuffle_ps(s2, s2, 1)));
}
VITRO_LANE float reduce_max(F32x16 a) {
  const __m256 s8 = _mm256_max_ps(_mm512_castps512_ps256(a.v), upper_half(a));
  const __m128 s4 = _mm_max_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  const __m128 s2 = _mm_max_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_max_ss(s2, _mm_shuffle_ps(s2, s2, 1)));
}
/// The even and the odd elements of the 32 values a, b.
VITRO_LANE void split_pairs(F32x16 a, F32x16 b, F32x16& even, F32x16& odd) {
  const __m512i even_idx = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  even = {_mm512_permutex2var_ps(a.v, even_idx, b.v)};
  odd = {_mm512_permutex2var_ps(a.v, _mm512_add_epi32(even_idx, _mm512_set1_epi32(1)), b.v)};
}
/// The inverse of split_pairs.
VITRO_LANE void join_pairs(F32x16 even, F32x16 odd, F32x16& a, F32x16& b) {
  const __m512i low_idx = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  a = {_mm512_permutex2var_ps(even.v, low_idx, odd.v)};
  b = {_mm512_permutex2var_ps(even.v, _mm512_add_epi32(low_idx, _mm512_set1_epi32(8)), odd.v)};
}

}  // namespace vitro::VITRO_ISA_NS
