#include "model/feed_forward.h"

#include <array>

#include "base/check.h"
#include "ops/elementwise.h"
#include "ops/linear.h"

namespace vitro {
namespace {

Activation kernel_activation(ActivationKind kind) {
  switch (kind) {
    case ActivationKind::kSilu:
      return Activation::kSilu;
    case ActivationKind::kGeluTanh:
      return Activation::kGeluTanh;
    case ActivationKind::kGeluErf:
      return Activation::kGeluErf;
    case ActivationKind::kRelu:
      return Activation::kRelu;
    case ActivationKind::kReluSquared:
      return Activation::kReluSquared;
    case ActivationKind::kQuickGelu:
      return Activation::kQuickGelu;
    default:
      VITRO_CHECK(false && "an activation that check_runnable refuses");
      return Activation::kRelu;
  }
}

Rows widen_gated(const BlockPass& block, ConstRows x) {
  const FeedForwardSpec& spec = block.spec().ffn;
  const FeedForwardWeights& weights = block.weights().ffn;
  const Rows gate = block.pass.rows(Act::kGate, spec.d_ff);
  const Rows up = block.pass.rows(Act::kUp, spec.d_ff);
  linear(x, std::array{LinearJob{weights.w_gate, weights.b_gate, gate}, LinearJob{weights.w_up, weights.b_up, up}},
         block.pass.ctx);
  block.see(HookPoint::kMlpPre, gate);
  block.see(HookPoint::kMlpPreLinear, up);
  activate_gate(kernel_activation(spec.activation), gate, up, block.pass.ctx);
  return gate;
}

Rows widen_plain(const BlockPass& block, ConstRows x) {
  const FeedForwardSpec& spec = block.spec().ffn;
  const FeedForwardWeights& weights = block.weights().ffn;
  const Rows neurons = block.pass.rows(Act::kGate, spec.d_ff);
  linear(x, std::array{LinearJob{weights.w_up, weights.b_up, neurons}}, block.pass.ctx);
  block.see(HookPoint::kMlpPre, neurons);
  activate(kernel_activation(spec.activation), neurons, block.pass.ctx);
  return neurons;
}

}  // namespace

Rows widen(const BlockPass& block, ConstRows x) {
  block.see(HookPoint::kMlpIn, x);
  const Rows neurons = block.spec().ffn.is_gated ? widen_gated(block, x) : widen_plain(block, x);
  block.see(HookPoint::kMlpPost, neurons);
  return neurons;
}

Rows narrow(const BlockPass& block, ConstRows neurons) {
  const FeedForwardWeights& weights = block.weights().ffn;
  const Rows out = block.pass.rows(Act::kFfnOut, block.model.config.d_model);
  linear(neurons, std::array{LinearJob{weights.w_down, weights.b_down, out}}, block.pass.ctx);
  block.see(HookPoint::kMlpModuleOut, out);
  return out;
}

}  // namespace vitro
