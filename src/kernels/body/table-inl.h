// The table of one instruction set: every body, written once, compiled for the region that includes this. See table.h
// for the contracts.
// Each block of includes uses the blocks before it.
#include "kernels/body/vector_loop-inl.h"

#include "kernels/body/exp-inl.h"

#include "kernels/body/activation-inl.h"
#include "kernels/body/elementwise-inl.h"
#include "kernels/body/norm-inl.h"
#include "kernels/body/rope-inl.h"
#include "kernels/body/stored-inl.h"

#include "kernels/body/attend_tile-inl.h"
#include "kernels/body/encode-inl.h"

#include "kernels/body/attend-inl.h"

namespace vitro::VITRO_ISA_NS {

#define VITRO_ATTEND(name, ...) attend<CacheType::name>,
#define VITRO_ATTEND_PROBS(name, ...) attend_probs<CacheType::name>,
#define VITRO_ENCODE(name, ...) encode<CacheType::name>,

/// Evaluated by the compiler: no code of the region runs before main.
static constexpr KernelTable make_table(const char* name, const MatmulFn* matmul) {
  return {
      .name = name,
      .matmul = matmul,
      .rms_norm = rms_norm,
      .layer_norm = layer_norm,
      .rope = rope,
      .attend = {VITRO_CACHE_TYPES(VITRO_ATTEND)},
      .attend_probs = {VITRO_CACHE_TYPES(VITRO_ATTEND_PROBS)},
      .encode = {VITRO_CACHE_TYPES(VITRO_ENCODE)},
      .activate = {activate<silu>, activate<gelu_tanh>, activate<gelu_erf>, activate<relu>, activate<relu_squared>,
                   activate<quick_gelu>},
      .activate_gate = {activate_gate<silu>, activate_gate<gelu_tanh>, activate_gate<gelu_erf>, activate_gate<relu>,
                        activate_gate<relu_squared>, activate_gate<quick_gelu>},
      .add = add,
      .scale = scale,
      .softcap = softcap,
      .clamp = clamp,
      .log_sum_exp = log_sum_exp,
  };
}

#undef VITRO_ATTEND
#undef VITRO_ATTEND_PROBS
#undef VITRO_ENCODE

}  // namespace vitro::VITRO_ISA_NS
