#include "tokens/train/word_counts.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>

#include "text/byte_level.h"
#include "text/utf8.h"

namespace vitro {
namespace {

constexpr size_t kMaxDistinctBytes = std::numeric_limits<uint32_t>::max();
constexpr size_t kBlockBytes = size_t{1} << 20;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

Result<File> open_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return fail(ErrorCode::kInvalidArgument, "{} is a folder; a text file is needed", path.string());
  }
  File file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return fail(ErrorCode::kNotFound, "{}: cannot be opened; is the path right?", path.string());
  return file;
}

int64_t total_bytes(const std::vector<std::filesystem::path>& files) {
  int64_t out = 0;
  for (const std::filesystem::path& path : files) {
    std::error_code error;
    const auto n_bytes = std::filesystem::file_size(path, error);
    if (!error) out += static_cast<int64_t>(n_bytes);
  }
  return out;
}

/// Hands out the lines of what is pushed into it, whole ones and those that reach kMaxLineBytes.
class LineCutter {
 public:
  template <class TakeLine>
  Status push(std::string_view block, TakeLine&& take) {
    while (!block.empty()) {
      const size_t end = block.find('\n');
      const size_t n_bytes = end == std::string_view::npos ? block.size() : end + 1;
      pending_.append(block.substr(0, n_bytes));
      block.remove_prefix(n_bytes);
      if (end != std::string_view::npos) VITRO_TRY(finish(take));
      if (pending_.size() >= kMaxLineBytes) VITRO_TRY(cut(take));
    }
    return {};
  }
  template <class TakeLine>
  Status finish(TakeLine&& take) {
    if (pending_.empty()) return {};
    VITRO_TRY(take(std::string_view(pending_)));
    pending_.clear();
    return {};
  }

 private:
  template <class TakeLine>
  Status cut(TakeLine&& take) {
    const size_t n_bytes = complete_utf8_prefix(pending_);
    VITRO_TRY(take(std::string_view(pending_).substr(0, n_bytes)));
    pending_.erase(0, n_bytes);
    return {};
  }
  std::string pending_;
};

uint64_t hash_of(std::string_view word) { return std::hash<std::string_view>()(word); }

}  // namespace

std::string_view WordCounts::word(size_t idx) const {
  const size_t begin = idx == 0 ? 0 : ends_[idx - 1];
  return std::string_view(text_).substr(begin, ends_[idx] - begin);
}

/// The slot that holds the word, or the free one where it belongs.
size_t WordCounts::slot_of(std::string_view word) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash_of(word) & mask;
  while (slots_[slot] != 0 && this->word(slots_[slot] - 1) != word) slot = (slot + 1) & mask;
  return slot;
}

void WordCounts::grow() {
  slots_.assign(std::max<size_t>(slots_.size() * 2, 1024), 0);
  const size_t mask = slots_.size() - 1;
  for (size_t i = 0; i < size(); ++i) {
    size_t slot = hash_of(word(i)) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<uint32_t>(i + 1);
  }
}

Status WordCounts::add(std::string_view word, uint64_t n) {
  if (2 * (size() + 1) > slots_.size()) grow();
  const size_t slot = slot_of(word);
  total_ += n;
  if (slots_[slot] != 0) {
    counts_[slots_[slot] - 1] += n;
    return {};
  }
  if (word.size() > kMaxDistinctBytes - text_.size()) {
    return fail(ErrorCode::kUnsupported, "more than 4 GiB of distinct words; is this text? a part of it will do");
  }
  text_.append(word);
  ends_.push_back(static_cast<uint32_t>(text_.size()));
  counts_.push_back(n);
  slots_[slot] = static_cast<uint32_t>(size());
  return {};
}

Status count_line(std::string_view line, const WordSplitter& splitter, WordCounts& out) {
  PieceList list = PieceList::whole(AlignedText::from(line));
  TextBudget budget(line.size());
  VITRO_TRY(apply_steps(splitter.normalizers, list, budget));
  list = PieceList::whole(std::move(list.text));
  VITRO_TRY(apply_steps(splitter.pre_tokenizers, list, budget));
  for (const ByteRange& piece : list.pieces) {
    VITRO_TRY(out.add(list.text.text().substr(piece.begin, piece.size())));
  }
  return {};
}

Result<WordCounts> count_words(const std::vector<std::filesystem::path>& files, const WordSplitter& splitter,
                               const TrainingProgress& progress) {
  // Writing bytes in the byte alphabet maps words one to one: done once for each distinct word, not for each word.
  WordSplitter steps = splitter;
  const bool is_byte_level =
      !steps.pre_tokenizers.empty() && std::holds_alternative<ByteLevelStep>(steps.pre_tokenizers.back());
  if (is_byte_level) steps.pre_tokenizers.pop_back();
  WordCounts out;
  const auto take = [&](std::string_view line) { return count_line(line, steps, out); };
  const int64_t n_total = total_bytes(files);
  int64_t n_done = 0;
  std::string block(kBlockBytes, '\0');
  for (const std::filesystem::path& path : files) {
    VITRO_TRY_ASSIGN(const File file, open_file(path));
    LineCutter lines;
    while (const size_t n_read = std::fread(block.data(), 1, block.size(), file.get())) {
      VITRO_TRY(lines.push(std::string_view(block).substr(0, n_read), take));
      n_done += static_cast<int64_t>(n_read);
      progress("reading", n_done, std::max(n_done, n_total));
    }
    if (std::ferror(file.get()) != 0) return fail(ErrorCode::kIoError, "{}: cannot be read", path.string());
    VITRO_TRY(lines.finish(take));
  }
  if (!is_byte_level) return out;
  WordCounts written;
  for (size_t i = 0; i < out.size(); ++i) VITRO_TRY(written.add(to_byte_level(out.word(i)), out.count(i)));
  return written;
}

}  // namespace vitro
