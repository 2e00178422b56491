// e^x on sixteen lanes, for softmax and the activations.
//   x = n ln 2 + r with n a whole number, |r| <= ln 2 / 2;  e^x = 2^n e^r   (Cody & Waite's reduction)
//   e^r = 1 + r + r^2 P(r), P of degree 4, minimax in relative error (3.1e-9, fitted by weighted least squares in
//   float64)
// Within 2 units in the last place for every float, subnormal results included; 0 below underflow, infinity above
// overflow, NaN stays.
namespace vitro::VITRO_ISA_NS {

VITRO_LANE F32x16 exp(F32x16 x) {
  // Outside these bounds the result is 0 or infinity anyway. The operands' order lets NaN through (see max in the lane
  // type).
  x = min(set1(89.0F), max(set1(-104.0F), x));
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
  const F32x16 fraction = fma(mul(r, r), p, r);
  return scale_by_power(add(fraction, set1(1.0F)), n);
}

}  // namespace vitro::VITRO_ISA_NS
