// How a step that changes the text writes its result: piece by piece, within the budget, with origins.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/text_steps.h"

namespace vitro {

/// A text that is being written, up to a length.
class BoundedText {
 public:
  explicit BoundedText(size_t max_bytes) : max_bytes_(max_bytes) {}

  Status append(const AlignedText& source, ByteRange range) {
    VITRO_TRY(check_room(range.size()));
    text_.append(source, range);
    return {};
  }
  Status append(std::string_view text, ByteRange origin) {
    VITRO_TRY(check_room(text.size()));
    text_.append(text, origin);
    return {};
  }
  size_t size() const { return text_.text().size(); }
  AlignedText take() { return std::move(text_); }

 private:
  Status check_room(size_t n_bytes) const {
    if (n_bytes <= max_bytes_ - size()) return {};
    return fail(ErrorCode::kUnsupported,
                "[tokenizer] the normaliser or pre-tokenizer makes the text too long (over {} bytes here)", max_bytes_);
  }

  size_t max_bytes_;
  AlignedText text_;
};

/// Rewrites every piece with write(piece, new_text), which appends the piece's new form.
template <class Write>
Status rewrite_pieces(PieceList& list, TextBudget& budget, Write&& write) {
  const size_t n_before = list.text.text().size();
  BoundedText out(budget.longest(n_before));
  std::vector<ByteRange> pieces;
  pieces.reserve(list.pieces.size());
  for (const ByteRange& piece : list.pieces) {
    const size_t begin = out.size();
    VITRO_TRY(write(piece, out));
    if (out.size() > begin) pieces.push_back({begin, out.size()});
  }
  budget.charge(n_before, out.size());
  list.text = out.take();
  list.pieces = std::move(pieces);
  return {};
}

}  // namespace vitro
