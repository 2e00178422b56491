// Penalties for ids that came before.
//
// repetition (Keskar et al. 2019, CTRL, with the fix all engines share): positive logits are divided by the penalty,
// negative ones multiplied, once for an id however often it came.
//
// presence, frequency (OpenAI): logit := logit - presence - frequency * count
#include "sample/rules.h"

namespace vitro {
namespace {

std::span<const int32_t> counted_ids(const RuleContext& context, CountedIds which) {
  std::span<const int32_t> ids = context.history.ids;
  if (which == CountedIds::kGenerated) ids = ids.subspan(static_cast<size_t>(context.history.n_prompt));
  const int64_t chosen = context.config.penalty_last_n;
  const int64_t last_n = chosen > 0 ? chosen : context.conventions.penalty_last_n;
  const bool has_window = last_n > 0 && last_n < static_cast<int64_t>(ids.size());
  return has_window ? ids.last(static_cast<size_t>(last_n)) : ids;
}

// Calls change(logit, count) once for each distinct id. Leaves the counts zero.
template <class Change>
void for_each_counted(std::span<const int32_t> ids, CandidateSet& set, Change change) {
  const std::span<float> logits = set.edit_logits();
  set.counts.resize(logits.size());
  for (const int32_t id : ids) ++set.counts[static_cast<size_t>(id)];
  for (const int32_t id : ids) {
    int32_t& count = set.counts[static_cast<size_t>(id)];
    if (count > 0) change(logits[static_cast<size_t>(id)], count);
    count = 0;
  }
}

}  // namespace

void apply_repetition(const RuleContext& context, CandidateSet& set) {
  const float penalty = static_cast<float>(context.config.repetition_penalty);
  for_each_counted(counted_ids(context, context.conventions.repetition_counts), set,
                   [penalty](float& logit, int32_t) { logit = logit > 0 ? logit / penalty : logit * penalty; });
}

void apply_presence_frequency(const RuleContext& context, CandidateSet& set) {
  const double presence = context.config.presence_penalty;
  const double frequency = context.config.frequency_penalty;
  for_each_counted(counted_ids(context, context.conventions.presence_counts), set,
                   [=](float& logit, int32_t count) { logit -= static_cast<float>(presence + frequency * count); });
}

}  // namespace vitro
