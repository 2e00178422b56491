// The table of the reference twins.
#include "kernels/isa/tables.h"
#include "kernels/matmul_tables.h"
#include "kernels/reference/reference.h"

namespace vitro {

constinit const KernelTable kReferenceTable = {
    .name = "reference",
    .matmul = kReferenceMatmul,
    .rms_norm = reference::rms_norm,
    .layer_norm = reference::layer_norm,
    .rope = reference::rope,
    .attend = {reference::attend},
    .attend_probs = {reference::attend_probs},
    .activate = {reference::silu, reference::gelu_tanh, reference::gelu_erf, reference::relu},
    .activate_gate = {reference::silu_gate, reference::gelu_tanh_gate, reference::gelu_erf_gate, reference::relu_gate},
    .add = reference::add,
    .scale = reference::scale,
    .log_sum_exp = reference::log_sum_exp,
};

}  // namespace vitro
