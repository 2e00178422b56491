// Forbids every id that would complete an n-gram that the history (prompt and generated) holds already: wherever the
// last n - 1 ids stood before, the id that followed. n = 1 forbids all ids of the history.
//
//   n = 3    history  a b c  x  a b      -> c is forbidden
//                     ^^^       ^^^
#include <algorithm>

#include "sample/rules.h"

namespace vitro {

void apply_no_repeat_ngram(const RuleContext& context, CandidateSet& set) {
  const std::span<const int32_t> ids = context.history.ids;
  const size_t n_prefix = static_cast<size_t>(context.config.no_repeat_ngram - 1);
  if (ids.size() <= n_prefix) return;
  const std::span<float> logits = set.edit_logits();
  const std::span<const int32_t> prefix = ids.last(n_prefix);
  for (size_t next = n_prefix; next < ids.size(); ++next) {
    if (std::equal(prefix.rbegin(), prefix.rend(), ids.rbegin() + static_cast<std::ptrdiff_t>(ids.size() - next)))
      logits[static_cast<size_t>(ids[next])] = kForbidden;
  }
}

}  // namespace vitro
