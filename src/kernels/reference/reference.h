// The reference twins: every kernel of table.h once more, from its formula, in plain loops with double accumulation.
// They are the definition, the oracle of the tests and the table to run when a fast kernel is under suspicion
// (VITRO_ISA=reference).
#pragma once

#include "kernels/table.h"

namespace vitro::reference {

void rms_norm(const NormArgs& args) noexcept;
void layer_norm(const NormArgs& args) noexcept;
void rope(const RopeArgs& args) noexcept;

void attend(CacheType type, const AttendArgs& args);
void attend_probs(CacheType type, const AttendProbsArgs& args);
void encode(CacheType type, const EncodeArgs& args);
/// The float32 that a stored element stands for; `scale` is not read where the type has none.
float stored_value(CacheType type, const std::byte* element, const std::byte* scale);

void silu(const float* x, int64_t n, float* out) noexcept;
void gelu_tanh(const float* x, int64_t n, float* out) noexcept;
void gelu_erf(const float* x, int64_t n, float* out) noexcept;
void relu(const float* x, int64_t n, float* out) noexcept;
void relu_squared(const float* x, int64_t n, float* out) noexcept;
void quick_gelu(const float* x, int64_t n, float* out) noexcept;
void silu_gate(const float* gate, const float* up, int64_t n, float* out) noexcept;
void gelu_tanh_gate(const float* gate, const float* up, int64_t n, float* out) noexcept;
void gelu_erf_gate(const float* gate, const float* up, int64_t n, float* out) noexcept;
void relu_gate(const float* gate, const float* up, int64_t n, float* out) noexcept;
void relu_squared_gate(const float* gate, const float* up, int64_t n, float* out) noexcept;
void quick_gelu_gate(const float* gate, const float* up, int64_t n, float* out) noexcept;

void add(const float* a, const float* b, int64_t n, float* out) noexcept;
void scale(const float* x, float factor, int64_t n, float* out) noexcept;
void softcap(const float* x, float cap, int64_t n, float* out) noexcept;
void clamp(const float* x, float limit, int64_t n, float* out) noexcept;
double log_sum_exp(const float* x, int64_t n) noexcept;

}  // namespace vitro::reference
