// Drops ids whose probability is below epsilon; those of the largest logit stay in any case (Hewitt et al. 2022, arXiv
// 2210.15191).
#include <algorithm>

#include "sample/rules.h"

namespace vitro {

void apply_epsilon(const RuleContext& context, CandidateSet& set) {
  double largest = 0;
  for (const Candidate& c : set.weighted()) largest = std::max(largest, c.probability);
  const double smallest_kept = std::min(context.config.epsilon_cutoff * set.mass(), largest);
  set.filter([=](const Candidate& c) { return c.probability >= smallest_kept; });
}

}  // namespace vitro
