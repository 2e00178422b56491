// WordCounts: the distinct words of a text and how often each occurs, which is all that trainers of tokenizers look at.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/text_steps.h"

namespace vitro {

/// Distinct words in the order in which they were first seen, so that nothing depends on a hash.
class WordCounts {
 public:
  /// Counts a word n times more. Unsupported: more than 4 GiB of distinct words.
  Status add(std::string_view word, uint64_t n = 1);

  size_t size() const { return counts_.size(); }
  std::string_view word(size_t idx) const;
  uint64_t count(size_t idx) const { return counts_[idx]; }
  uint64_t total() const { return total_; }

 private:
  void grow();
  size_t slot_of(std::string_view word) const;

  std::string text_;              ///< all words, one after the other
  std::vector<uint32_t> ends_;    ///< of each word in text_
  std::vector<uint64_t> counts_;  ///< of each word
  std::vector<uint32_t> slots_;   ///< index + 1 by hash, 0: free; at most half full, size a power of two
  uint64_t total_ = 0;
};

/// Called now and then: what is being done, how much of it is done, of how much.
using TrainingProgress = std::function<void(std::string_view stage, int64_t n_done, int64_t n_total)>;

/// The steps before a model sees a word, as a tokenizer.json states them.
struct WordSplitter {
  std::vector<TextStep> normalizers;
  std::vector<TextStep> pre_tokenizers;
};

/// Longer lines are cut here, at a character. Bounds memory; words at the cut are cut as well.
inline constexpr size_t kMaxLineBytes = size_t{16} << 20;

/// Counts the words of one line, its line end included. Bytes that are not UTF-8 count as U+FFFD, as in encoding.
/// Errors as apply_steps.
Status count_line(std::string_view line, const WordSplitter& splitter, WordCounts& out);
/// Counts the words of files, line by line ('\n' ends a line and belongs to it), as the reference does: no word goes
/// over a line's end. NotFound, IoError.
Result<WordCounts> count_words(const std::vector<std::filesystem::path>& files, const WordSplitter& splitter,
                               const TrainingProgress& progress);

}  // namespace vitro
