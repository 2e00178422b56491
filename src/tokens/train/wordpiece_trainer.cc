#include "tokens/train/wordpiece_trainer.h"

namespace vitro {

Result<std::vector<std::string>> train_wordpiece(const WordCounts& words, BpeTrainerOptions options,
                                                 const TrainingProgress& progress) {
  options.continuing_prefix = kContinuingPrefix;
  VITRO_TRY_ASSIGN(TrainedBpe trained, train_bpe(words, options, progress));
  return std::move(trained.pieces);
}

}  // namespace vitro
