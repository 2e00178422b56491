// Drops ids whose probability is below min_p times the largest one (Nguyen et al. 2024, arXiv 2407.01082).
#include <algorithm>

#include "sample/rules.h"

namespace vitro {

void apply_min_p(const RuleContext& context, CandidateSet& set) {
  double largest = 0;
  for (const Candidate& c : set.weighted()) largest = std::max(largest, c.probability);
  const double smallest_kept = context.config.min_p * largest;
  set.filter([=](const Candidate& c) { return c.probability >= smallest_kept; });
}

}  // namespace vitro
