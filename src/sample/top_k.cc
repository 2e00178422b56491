// Keeps the k ids with the largest logits. Ids tied with the k-th: all stay (transformers, vLLM), or only as many as
// make k, the lowest ids first (llama.cpp, whose partial sort leaves open which).
#include <limits>

#include "sample/rules.h"

namespace vitro {

void apply_top_k(const RuleContext& context, CandidateSet& set) {
  const float edge = set.kth_largest_logit(context.config.top_k);
  if (edge == kForbidden) return;
  int64_t n_above = 0;
  set.filter([&](const Candidate& c) {
    n_above += set.logit(c.id) > edge ? 1 : 0;
    return set.logit(c.id) >= edge;
  });
  if (context.conventions.top_k_keeps_ties) return;
  int64_t n_ties_left = context.config.top_k - n_above;
  set.filter([&](const Candidate& c) { return set.logit(c.id) > edge || n_ties_left-- > 0; });
}

}  // namespace vitro
