// Keeps the smallest set of ids whose mass reaches p: walking down from the most probable, up to the id with which p is
// reached (so the best one always stays). Equal to dropping from below while the mass dropped is at most 1 - p.
#include "sample/rules.h"

namespace vitro {

void apply_top_p(const RuleContext& context, CandidateSet& set) {
  const int32_t tie_sign = context.conventions.top_p_prefers_higher_id ? -1 : 1;
  const auto rank = [tie_sign](const Candidate& c) -> Ranked {
    return {-c.probability, tie_sign * c.id, c.id, c.probability};
  };
  const std::span<const Candidate> candidates = set.weighted();
  // All ids at most this likely have together at most half the mass that is dropped, so none of them is worth ranking.
  const double hopeless = 0.5 * (1 - context.config.top_p) * set.mass() / static_cast<double>(candidates.size());
  set.ranked.clear();
  for (const Candidate& c : candidates) {
    if (c.probability > hopeless) set.ranked.push_back(rank(c));
  }
  if (set.ranked.empty()) return;
  const Ranked last = last_of_walk(set.ranked, context.config.top_p * set.mass(), MassReached::kAtLeast);
  set.filter([&](const Candidate& c) { return !ranks_before(last, rank(c)); });
}

}  // namespace vitro
