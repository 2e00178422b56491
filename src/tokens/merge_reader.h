// Merges of byte-pair encoding as files write them, looked up in a vocabulary.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokens/bpe.h"
#include "tokens/vocabulary.h"

namespace vitro {

/// Merges in the order of their ranks, each "left right" (the first character may be a space itself). Of twins the
/// first counts. Corrupt: a line that is no pair, pieces that the vocabulary has not.
Result<MergeTable> read_merge_lines(std::span<const std::string_view> lines, const Vocabulary& vocabulary);

}  // namespace vitro
