// The table of the reference twins.
#include "kernels/isa/tables.h"
#include "kernels/matmul_tables.h"
#include "kernels/reference/reference.h"

namespace vitro {
namespace {

template <CacheType kType>
void attend(const AttendArgs& args) noexcept {
  reference::attend(kType, args);
}
template <CacheType kType>
void attend_probs(const AttendProbsArgs& args) noexcept {
  reference::attend_probs(kType, args);
}
template <CacheType kType>
void encode(const EncodeArgs& args) noexcept {
  reference::encode(kType, args);
}

}  // namespace

#define VITRO_ATTEND(name, ...) attend<CacheType::name>,
#define VITRO_ATTEND_PROBS(name, ...) attend_probs<CacheType::name>,
#define VITRO_ENCODE(name, ...) encode<CacheType::name>,

constinit const KernelTable kReferenceTable = {
    .name = "reference",
    .matmul = kReferenceMatmul,
    .rms_norm = reference::rms_norm,
    .layer_norm = reference::layer_norm,
    .rope = reference::rope,
    .attend = {VITRO_CACHE_TYPES(VITRO_ATTEND)},
    .attend_probs = {VITRO_CACHE_TYPES(VITRO_ATTEND_PROBS)},
    .encode = {VITRO_CACHE_TYPES(VITRO_ENCODE)},
    .activate = {reference::silu, reference::gelu_tanh, reference::gelu_erf, reference::relu, reference::relu_squared,
                 reference::quick_gelu},
    .activate_gate = {reference::silu_gate, reference::gelu_tanh_gate, reference::gelu_erf_gate, reference::relu_gate,
                      reference::relu_squared_gate, reference::quick_gelu_gate},
    .add = reference::add,
    .scale = reference::scale,
    .softcap = reference::softcap,
    .clamp = reference::clamp,
    .log_sum_exp = reference::log_sum_exp,
};
#undef VITRO_ATTEND
#undef VITRO_ATTEND_PROBS
#undef VITRO_ENCODE

}  // namespace vitro
