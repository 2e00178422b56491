// One function for each kind of step; text_steps.cc chooses among them.
#pragma once

#include "text/text_steps.h"

namespace vitro {

// normalizer_steps.cc
Status apply(const NormalFormStep& step, PieceList& list, TextBudget& budget);
Status apply(const StripStep& step, PieceList& list, TextBudget& budget);
Status apply(const ReplaceStep& step, PieceList& list, TextBudget& budget);
Status apply(const ReplacePatternStep& step, PieceList& list, TextBudget& budget);
Status apply(const PrecompiledStep& step, PieceList& list, TextBudget& budget);
Status apply(const PrependStep& step, PieceList& list, TextBudget& budget);
Status apply(const ByteLevelStep& step, PieceList& list, TextBudget& budget);
Status apply(const SentencePieceStep& step, PieceList& list, TextBudget& budget);

// character_maps.cc
Status apply(const CharacterMapStep& step, PieceList& list, TextBudget& budget);

// split_steps.cc
Status apply(const SplitStep& step, PieceList& list, TextBudget& budget);
Status apply(const CharacterSplitStep& step, PieceList& list, TextBudget& budget);
Status apply(const WordSplitStep& step, PieceList& list, TextBudget& budget);
Status apply(const ScriptSplitStep& step, PieceList& list, TextBudget& budget);
Status apply(const LengthSplitStep& step, PieceList& list, TextBudget& budget);

}  // namespace vitro
