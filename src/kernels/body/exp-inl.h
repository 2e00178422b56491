// e^x and tanh on sixteen lanes, for softmax, soft caps and the activations.
//   x = n ln 2 + r with n a whole number, |r| <= ln 2 / 2;  e^x = 2^n e^r   (Cody & Waite's reduction)
//   e^r = 1 + r + r^2 P(r), P of degree 4, minimax in relative error (3.1e-9, fitted by weighted least squares in
//   float64)
// e^x is within 2 units in the last place for every float, subnormal results included; 0 below underflow, infinity
// above overflow, NaN stays.
//   tanh x = sign(x) t / (t + 2), t = e^(2|x|) - 1 = 2^n f + (2^n - 1), f = e^r - 1
// For small x n is 0 and t is f, which no subtraction has cut short: tanh is within 3 units in the last place for every
// float, subnormal ones included (2.6 is the most that was measured; 3.6 for cap tanh(x / cap)); NaN stays.
namespace vitro::VITRO_ISA_NS {

/// e^x = 2^n (1 + f)
struct ExpParts {
  F32x16 f;
  I32x16 n;
};

VITRO_LANE ExpParts exp_parts(F32x16 x) {
  const I32x16 n = round_to_i32(mul(x, set1(0x1.715476p0F)));
  const F32x16 n_float = to_f32(n);
  // ln 2 in two parts; the first has nine bits, so that its product with n is exact without FMA too.
  F32x16 r = fma(n_float, set1(-0.693359375F), x);
  r = fma(n_float, set1(2.12194440e-4F), r);
  F32x16 p = set1(0.001381453998834F);
  p = fma(p, r, set1(0.008368745116343F));
  p = fma(p, r, set1(0.041668390787379F));
  p = fma(p, r, set1(0.166665203989625F));
  p = fma(p, r, set1(0.499999934321105F));
  return {fma(mul(r, r), p, r), n};
}

VITRO_LANE F32x16 exp(F32x16 x) {
  // Outside these bounds the result is 0 or infinity anyway. The operands' order lets NaN through (see max in the lane
  // type).
  const ExpParts e = exp_parts(min(set1(89.0F), max(set1(-104.0F), x)));
  return scale_by_power(add(e.f, set1(1.0F)), e.n);
}

VITRO_LANE F32x16 abs(F32x16 x) { return as_f32(and_(as_i32(x), set1(INT32_MAX))); }
VITRO_LANE I32x16 sign_bit(F32x16 x) { return and_(as_i32(x), set1(INT32_MIN)); }

VITRO_LANE F32x16 tanh(F32x16 x) {
  const F32x16 magnitude = min(set1(10.0F), abs(x));  // from 9.02 on the result is 1; NaN passes
  const ExpParts e = exp_parts(add(magnitude, magnitude));
  const F32x16 power = scale_by_power(set1(1.0F), e.n);
  const F32x16 t = fma(power, e.f, sub(power, set1(1.0F)));
  return as_f32(or_(as_i32(div(t, add(t, set1(2.0F)))), sign_bit(x)));
}

/// cap tanh(x / cap)
VITRO_LANE F32x16 soft_cap(F32x16 x, F32x16 cap) { return mul(cap, tanh(div(x, cap))); }

}  // namespace vitro::VITRO_ISA_NS
