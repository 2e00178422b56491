#include "tokens/vocabulary_builder.h"

#include <algorithm>

#include "formats/quote_name.h"

namespace vitro {

Status VocabularyBuilder::add(std::string_view text, int64_t id, TokenKind kind, float score) {
  const size_t limit = std::min(kMaxVocabulary, 4 * ids_.size() + (size_t{1} << 18));
  if (id < 0 || static_cast<size_t>(id) >= limit) {
    return fail(ErrorCode::kCorrupt, "{} has the id {}, outside 0 to {}", quote_name(text), id, limit - 1);
  }
  const auto idx = static_cast<size_t>(id);
  if (idx >= entries_.size()) entries_.resize(idx + 1);
  if (!entries_[idx].text.empty()) {
    return fail(ErrorCode::kCorrupt, "{} and {} have the same id {}", quote_name(entries_[idx].text), quote_name(text),
                id);
  }
  if (text.empty()) return fail(ErrorCode::kCorrupt, "the entry {} is empty", id);
  const auto [place, is_new] = ids_.emplace(std::string(text), static_cast<TokenId>(id));
  if (!is_new) {
    return fail(ErrorCode::kCorrupt, "{} stands twice, as id {} and {}", quote_name(text), place->second, id);
  }
  entries_[idx] = {std::string(text), kind, score};
  return {};
}

TokenId VocabularyBuilder::find(std::string_view text) const {
  const auto found = ids_.find(std::string(text));
  return found == ids_.end() ? -1 : found->second;
}

Status VocabularyBuilder::add_token(AddedToken token, TokenizerParts& parts) {
  if (token.content.empty()) return {};
  const auto is_same = [&](const AddedToken& other) { return other.content == token.content; };
  if (std::any_of(parts.added.begin(), parts.added.end(), is_same)) return {};
  const TokenId known = find(token.content);
  if (known >= 0 && token.id >= 0 && known != token.id) {
    return fail(ErrorCode::kCorrupt, "{} has the id {}, but as an added token {}", quote_name(token.content), known,
                token.id);
  }
  if (known < 0) {
    if (token.id < 0) token.id = static_cast<TokenId>(entries_.size());
    VITRO_TRY(add(token.content, token.id));
  } else {
    token.id = known;
  }
  entries_[static_cast<size_t>(token.id)].kind = token.is_special ? TokenKind::kControl : TokenKind::kUserDefined;
  parts.added.push_back(std::move(token));
  return {};
}

Result<Vocabulary> VocabularyBuilder::build() const {
  size_t n_bytes = 0;
  for (const Entry& entry : entries_) n_bytes += entry.text.size();
  VITRO_TRY_ASSIGN(Vocabulary out, Vocabulary::with_room(entries_.size(), n_bytes));
  for (const Entry& entry : entries_) {
    if (entry.text.empty()) {
      out.add_hole();
    } else {
      VITRO_TRY(out.add(entry.text, entry.kind, entry.score));
    }
  }
  return out;
}

Status VocabularyBuilder::finish(const TokenizerSettings& settings, TokenizerParts& parts) {
  for (const AddedToken& token : settings.added) VITRO_TRY(add_token(token, parts));
  for (const auto& [name, token] : settings.special) VITRO_TRY(add_token(token, parts));
  VITRO_TRY_ASSIGN(parts.vocabulary, build());
  parts.is_special.resize(parts.vocabulary.size());
  for (const AddedToken& token : parts.added) parts.is_special[static_cast<size_t>(token.id)] = token.is_special;
  parts.bos_id = find(settings.special_or("bos_token", ""));
  parts.eos_id = find(settings.special_or("eos_token", ""));
  return {};
}

}  // namespace vitro
