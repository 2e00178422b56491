// logit[id] := logit[id] + bias. A bias of -inf forbids the id, whatever its logit; several biases for one id add up.
#include "sample/rules.h"

namespace vitro {

void apply_logit_bias(const RuleContext& context, CandidateSet& set) {
  const std::span<float> logits = set.edit_logits();
  for (const auto& [id, bias] : context.config.logit_bias) {
    float& logit = logits[static_cast<size_t>(id)];
    logit = bias == kForbidden ? kForbidden : logit + bias;  // +inf + -inf would be no number
  }
}

}  // namespace vitro
