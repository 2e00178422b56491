// Training of WordPiece (Schuster & Nakajima 2012; Wu et al. 2016, arXiv 1609.08144). As the reference does it: the
// vocabulary of byte-pair encoding (bpe_trainer.h) whose symbols carry "##" unless they start a word; the merges are
// forgotten. The original chooses pairs by the gain in likelihood, count(ab) / (count(a) count(b)), not by count(ab).
#pragma once

#include "tokens/train/bpe_trainer.h"

namespace vitro {

inline constexpr std::string_view kContinuingPrefix = "##";

/// The vocabulary, by id: special tokens, characters by code point, "##" and the characters inside words by code point,
/// merges. The reference numbers the third group as its hash table gives it, and breaks ties by these numbers, so that
/// it trains another vocabulary in each run; where that order is fixed, the results are equal. Errors as train_bpe.
Result<std::vector<std::string>> train_wordpiece(const WordCounts& words, BpeTrainerOptions options,
                                                 const TrainingProgress& progress);

}  // namespace vitro
