// logit := logit / T, in float32 as the engines do it. Above 1 the distribution gets flatter, below 1 steeper.
#include "sample/rules.h"

namespace vitro {

void apply_temperature(const RuleContext& context, CandidateSet& set) {
  set.divide_logits(static_cast<float>(context.config.temperature));
}

}  // namespace vitro
