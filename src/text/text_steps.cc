// The choice of the function for a step.
#include "text/text_steps.h"

#include "text/step_kinds.h"

namespace vitro {

PieceList PieceList::whole(AlignedText text) {
  PieceList out;
  if (!text.text().empty()) out.pieces.push_back({0, text.text().size()});
  out.text = std::move(text);
  return out;
}

Status apply_step(const TextStep& step, PieceList& list, TextBudget& budget) {
  return std::visit([&](const auto& s) { return apply(s, list, budget); }, step);
}

Status apply_steps(const std::vector<TextStep>& steps, PieceList& list, TextBudget& budget) {
  for (const TextStep& step : steps) VITRO_TRY(apply_step(step, list, budget));
  return {};
}

}  // namespace vitro
