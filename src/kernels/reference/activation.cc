// Reference twins of the element-wise functions of feed-forward layers (formulas: Activation in table.h).
#include <cmath>

#include "kernels/reference/reference.h"

namespace vitro::reference {
namespace {

double silu_of(double x) { return x / (1 + std::exp(-x)); }
double gelu_tanh_of(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }
/// erfc keeps the left tail, where 1 + erf would cancel.
double gelu_erf_of(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }
double relu_of(double x) { return x < 0 ? 0 : x; }
double relu_squared_of(double x) { return relu_of(x) * relu_of(x); }
double quick_gelu_of(double x) { return x / (1 + std::exp(-1.702 * x)); }

template <double (*f)(double)>
void activate(const float* x, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(f(x[i]));
}

template <double (*f)(double)>
void activate_gate(const float* gate, const float* up, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(f(gate[i]) * up[i]);
}

}  // namespace

void silu(const float* x, int64_t n, float* out) noexcept { activate<silu_of>(x, n, out); }
void gelu_tanh(const float* x, int64_t n, float* out) noexcept { activate<gelu_tanh_of>(x, n, out); }
void gelu_erf(const float* x, int64_t n, float* out) noexcept { activate<gelu_erf_of>(x, n, out); }
void relu(const float* x, int64_t n, float* out) noexcept { activate<relu_of>(x, n, out); }
void relu_squared(const float* x, int64_t n, float* out) noexcept { activate<relu_squared_of>(x, n, out); }
void quick_gelu(const float* x, int64_t n, float* out) noexcept { activate<quick_gelu_of>(x, n, out); }

void silu_gate(const float* gate, const float* up, int64_t n, float* out) noexcept {
  activate_gate<silu_of>(gate, up, n, out);
}
void gelu_tanh_gate(const float* gate, const float* up, int64_t n, float* out) noexcept {
  activate_gate<gelu_tanh_of>(gate, up, n, out);
}
void gelu_erf_gate(const float* gate, const float* up, int64_t n, float* out) noexcept {
  activate_gate<gelu_erf_of>(gate, up, n, out);
}
void relu_gate(const float* gate, const float* up, int64_t n, float* out) noexcept {
  activate_gate<relu_of>(gate, up, n, out);
}
void relu_squared_gate(const float* gate, const float* up, int64_t n, float* out) noexcept {
  activate_gate<relu_squared_of>(gate, up, n, out);
}
void quick_gelu_gate(const float* gate, const float* up, int64_t n, float* out) noexcept {
  activate_gate<quick_gelu_of>(gate, up, n, out);
}

}  // namespace vitro::reference
