// The element-wise functions of feed-forward layers (Activation in table.h) and their gated forms.
//   gelu_tanh: 0.5 (1 + tanh u) = 1 / (1 + e^-2u), so it is x * sigmoid(2u).
//   gelu_erf (Hendrycks & Gimpel 2016, arXiv 1606.08415): 0.5 x (1 + erf t) with t = x / sqrt 2 is x (1 - c) for x > 0
//   and x c below, c = 0.5 erfc|t|, which keeps the small values of the left tail accurate.
namespace vitro::VITRO_ISA_NS {

/// x / (1 + e^-y)
VITRO_LANE F32x16 times_sigmoid(F32x16 x, F32x16 y) { return div(x, add(set1(1.0F), exp(sub(zero(), y)))); }

VITRO_LANE F32x16 silu(F32x16 x) { return times_sigmoid(x, x); }

VITRO_LANE F32x16 quick_gelu(F32x16 x) { return times_sigmoid(x, mul(x, set1(1.702F))); }

VITRO_LANE F32x16 gelu_tanh(F32x16 x) {
  const F32x16 cubic = fma(mul(mul(x, x), x), set1(0.044715F), x);
  return times_sigmoid(x, mul(cubic, set1(1.5957691216F)));  // 2 sqrt(2 / pi)
}

/// erfc(t) for t >= 0: e^(-t^2) Q(1 / (1 + 0.4 t)), Q of degree 6, minimax in absolute error over 0 <= t <= 6 (1.2e-8).
/// The form is that of Abramowitz & Stegun 7.1.26, the coefficients were fitted anew in float64.
VITRO_LANE F32x16 erfc_positive(F32x16 t) {
  const F32x16 u = div(set1(1.0F), fma(t, set1(0.4F), set1(1.0F)));
  F32x16 q = set1(-0.179619518F);
  q = fma(q, u, set1(0.607633474F));
  q = fma(q, u, set1(-0.164067294F));
  q = fma(q, u, set1(0.244843252F));
  q = fma(q, u, set1(0.296740627F));
  q = fma(q, u, set1(0.188752599F));
  q = fma(q, u, set1(0.00571684801F));
  return mul(q, exp(sub(zero(), mul(t, t))));
}

VITRO_LANE F32x16 gelu_erf(F32x16 x) {
  const F32x16 t = mul(abs(x), set1(0.70710678F));
  const F32x16 c = mul(set1(0.5F), erfc_positive(t));
  return mul(x, select(less(zero(), x), sub(set1(1.0F), c), c));
}

/// max gives its second operand for NaN, so NaN stays NaN.
VITRO_LANE F32x16 relu(F32x16 x) { return max(zero(), x); }
VITRO_LANE F32x16 relu_squared(F32x16 x) { return mul(relu(x), relu(x)); }

template <F32x16 (*f)(F32x16)>
static void activate(const float* x, int64_t n, float* out) noexcept {
  for_each_vector(
      n, [=](int64_t i, int64_t n_lanes) { store_partial(f(load_partial(x + i, n_lanes)), out + i, n_lanes); });
}

template <F32x16 (*f)(F32x16)>
static void activate_gate(const float* gate, const float* up, int64_t n, float* out) noexcept {
  for_each_vector(n, [=](int64_t i, int64_t n_lanes) {
    const F32x16 activated = f(load_partial(gate + i, n_lanes));
    store_partial(mul(activated, load_partial(up + i, n_lanes)), out + i, n_lanes);
  });
}

}  // namespace vitro::VITRO_ISA_NS
