// The table of one instruction set: every body, written once, compiled for the region that includes this. See table.h
// for the contracts.
// Each block of includes uses the blocks before it.
#include "kernels/body/vector_loop-inl.h"

#include "kernels/body/exp-inl.h"

#include "kernels/body/activation-inl.h"
#include "kernels/body/attend_tile-inl.h"
#include "kernels/body/elementwise-inl.h"
#include "kernels/body/norm-inl.h"
#include "kernels/body/rope-inl.h"

#include "kernels/body/attend-inl.h"

namespace vitro::VITRO_ISA_NS {

/// Evaluated by the compiler: no code of the region runs before main.
static constexpr KernelTable make_table(const char* name, const MatmulFn* matmul) {
  return {
      .name = name,
      .matmul = matmul,
      .rms_norm = rms_norm,
      .layer_norm = layer_norm,
      .rope = rope,
      .attend = {attend},
      .attend_probs = {attend_probs},
      .activate = {activate<silu>, activate<gelu_tanh>, activate<gelu_erf>, activate<relu>},
      .activate_gate = {activate_gate<silu>, activate_gate<gelu_tanh>, activate_gate<gelu_erf>, activate_gate<relu>},
      .add = add,
      .scale = scale,
      .log_sum_exp = log_sum_exp,
  };
}

}  // namespace vitro::VITRO_ISA_NS
