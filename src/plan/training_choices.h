// What else a training run could choose, one change at a time: the rows of "what another choice would need".
#pragma once

#include <string>
#include <vector>

#include "plan/training_plan.h"

namespace vitro {

struct TrainingChoice {
  std::string name;
  TrainingSpec spec;
};
/// "as asked" first; then other recipes of AdamW, recomputation, attention, loss, stages of ZeRO where there are ranks
/// that share, and LoRA, each without what is asked already. Some the model or the layout may not have: check_training.
std::vector<TrainingChoice> training_choices(const TrainingSpec& asked);

}  // namespace vitro
