// Rounding keys and values to the types of the cache (EncodeArgs in table.h).
namespace vitro::VITRO_ISA_NS {

/// max |x|; the one NaN of positive sign and no payload if an element is NaN or infinite.
static float largest_magnitude(const float* x, int64_t n) {
  F32x16 highest = zero(), poison = zero();
  for_each_vector(n, [&](int64_t i, int64_t n_lanes) {
    const F32x16 lanes = load_partial(x + i, n_lanes);
    highest = max(abs(lanes), highest);
    poison = fma(lanes, zero(), poison);  // a NaN is lost in max
  });
  return reduce_add(poison) == 0 ? reduce_max(highest) : NAN;
}

/// To nearest, halves away from zero: the float32 below 0.5 added, then truncated. (0.5 itself would lift the float32
/// below 0.5 to 1.)
VITRO_LANE I32x16 round_half_away(F32x16 x) {
  const I32x16 half = or_(as_i32(set1(0x1.FFFFFEp-2F)), sign_bit(x));
  return truncate_to_i32(add(x, as_f32(half)));
}

/// The bits of a float32 without the last kDropped, rounded to nearest even.
template <int kDropped>
VITRO_LANE I32x16 round_off(I32x16 bits) {
  const I32x16 is_odd = and_(shift_right_logical<kDropped>(bits), set1(1));
  return shift_right_logical<kDropped>(add(bits, add(is_odd, set1((1 << (kDropped - 1)) - 1))));
}

VITRO_LANE Words16 narrow_bf16(F32x16 x) {
  const I32x16 nan = or_(shift_right_logical<16>(as_i32(x)), set1(0x0040));
  return low_words(as_i32(select(is_nan(x), as_f32(nan), as_f32(round_off<16>(as_i32(x))))));
}

/// FP8 E4M3 of |x| up to 448 and what rounds to it. Exponents of float32 are 120 higher; below 2^-6 codes are multiples
/// of 2^-9.
VITRO_LANE I32x16 round_e4m3(F32x16 x) {
  const F32x16 magnitude = min(abs(x), set1(448.0F));
  const I32x16 normal = round_off<20>(sub(as_i32(magnitude), set1(120 << 23)));
  const I32x16 subnormal = round_to_i32(mul(magnitude, set1(0x1p9F)));
  const F32x16 code = select(less(magnitude, set1(0x1p-6F)), as_f32(subnormal), as_f32(normal));
  return or_(as_i32(code), shift_right_logical<24>(sign_bit(x)));
}

/// One block with a scale. 1 / step overflows only where the float16 of step is 0; the elements are 0 then too, and
/// where the step is NaN.
template <I32x16 (*round)(F32x16)>
static void encode_block(const float* x, int64_t n, float largest, std::byte* elements, std::byte* scale) {
  const float step = largest_magnitude(x, n) / largest;
  const uint16_t scale_bits = f32_to_f16(step);
  __builtin_memcpy(scale, &scale_bits, sizeof(scale_bits));
  const float inverse = 1 / step;
  const bool is_finite = inverse <= FLT_MAX;
  for_each_vector(n, [&](int64_t i, int64_t n_lanes) {
    const F32x16 scaled = is_finite ? mul(load_partial(x + i, n_lanes), set1(inverse)) : zero();
    store_bytes_partial(low_bytes(round(scaled)), elements + i, n_lanes);
  });
}

template <Words16 (*narrow)(F32x16)>
static void encode_words(const EncodeArgs& args) {
  for_each_vector(args.n, [&](int64_t i, int64_t n_lanes) {
    store_words_partial(narrow(load_partial(args.x + i, n_lanes)), args.elements + 2 * i, n_lanes);
  });
}

template <I32x16 (*round)(F32x16)>
static void encode_scaled(const EncodeArgs& args, float largest) {
  for (int64_t i = 0, b = 0; i < args.n; i += args.scale_block, ++b) {
    encode_block<round>(args.x + i, args.scale_block, largest, args.elements + i, args.scales + b * kScaleBytes);
  }
}

template <CacheType kType>
static void encode(const EncodeArgs& args) noexcept {
  if constexpr (kType == CacheType::kF32) __builtin_memcpy(args.elements, args.x, static_cast<size_t>(args.n) * 4);
  if constexpr (kType == CacheType::kF16) encode_words<narrow_f16>(args);
  if constexpr (kType == CacheType::kBF16) encode_words<narrow_bf16>(args);
  if constexpr (kType == CacheType::kQ8_0 || kType == CacheType::kInt8) encode_scaled<round_half_away>(args, 127);
  if constexpr (kType == CacheType::kFp8) encode_scaled<round_e4m3>(args, 448);
}

}  // namespace vitro::VITRO_ISA_NS
