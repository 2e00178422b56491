#include "generate/known_tokens.h"

#include <algorithm>

namespace vitro {

KnownTokens::Match KnownTokens::match(std::string_view text, const Encoding& encoding) const {
  const auto n_same =
      static_cast<size_t>(std::mismatch(text_.begin(), text_.end(), text.begin(), text.end()).first - text_.begin());
  const std::vector<ByteRange>& ranges = encoding.ranges;
  Match best;
  for (size_t i = 0, j = 0; i < ids_.size() && places_[i].range.end <= n_same; ++i) {
    const Place& place = places_[i];
    if (place.is_compared_by_id()) {
      if (j == ranges.size() || encoding.ids[j] != ids_[i] || ranges[j] != place.range) break;
      best = {i + 1, ++j};
      continue;
    }
    while (j < ranges.size() && ranges[j].end <= place.range.end) ++j;
    // Not inside a token of the new text: there the tokenizer would cut otherwise.
    const bool is_between = j == ranges.size() || ranges[j].begin >= place.range.end;
    if (is_between && *place.generated == Generated::kText) best = {i + 1, j};
  }
  return best;
}

void KnownTokens::become(std::string_view text, const Encoding& encoding) {
  const Match kept = match(text, encoding);
  ids_.resize(kept.n_kept);
  places_.resize(kept.n_kept);
  text_ = text;
  for (size_t j = kept.n_skipped; j < encoding.ids.size(); ++j) {
    ids_.push_back(encoding.ids[j]);
    places_.push_back({encoding.ranges[j], std::nullopt});
  }
}

void KnownTokens::append_generated(TokenId id, std::string_view text, Generated kind) {
  ids_.push_back(id);
  places_.push_back({{text_.size(), text_.size() + text.size()}, kind});
  text_ += text;
}

void KnownTokens::clear() { *this = {}; }

}  // namespace vitro
