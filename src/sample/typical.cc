// Locally typical sampling (Meister et al. 2022, arXiv 2202.00666): ids are ranked by how far their surprise is from
// the mean surprise,
//   |-log p_i - H|,  H = -sum_j p_j log p_j
// and kept from the nearest on until their mass reaches p. The most probable id may be dropped.
#include <cmath>
#include <limits>
#include <span>

#include "sample/rules.h"

namespace vitro {
namespace {

// -log p of a candidate is log(mass) - log(weight): infinite where the weight underflowed.
double entropy_of(std::span<const Candidate> candidates, double mass) {
  double entropy = 0;
  for (const Candidate& c : candidates) {
    if (c.probability > 0) entropy += c.probability / mass * (std::log(mass) - std::log(c.probability));
  }
  return entropy;
}

}  // namespace

void apply_typical(const RuleContext& context, CandidateSet& set) {
  const std::span<const Candidate> candidates = set.weighted();
  if (candidates.empty()) return;
  const double log_mass = std::log(set.mass()), entropy = entropy_of(candidates, set.mass());
  const auto rank = [=](const Candidate& c) -> Ranked {
    return {std::fabs(log_mass - std::log(c.probability) - entropy), c.id, c.id, c.probability};
  };
  set.ranked.clear();
  for (const Candidate& c : candidates) set.ranked.push_back(rank(c));
  const bool keeps_ties = context.conventions.typical_keeps_ties;
  const MassReached reached = keeps_ties ? MassReached::kAtLeast : MassReached::kAbove;
  Ranked last = last_of_walk(set.ranked, context.config.typical_p * set.mass(), reached);
  if (keeps_ties) last.tie = std::numeric_limits<int32_t>::max();
  set.filter([&](const Candidate& c) { return !ranks_before(last, rank(c)); });
}

}  // namespace vitro
