// Longest match in a trie: one walk for each piece of the word.
#include "tokens/wordpiece.h"

#include "text/utf8.h"

namespace vitro {
namespace {

/// True if the valid UTF-8 has more than `limit` characters.
bool is_longer_than(std::string_view text, size_t limit) {
  if (text.size() <= limit) return false;
  size_t n = 0;
  for (const char c : text) n += (static_cast<uint8_t>(c) & 0xC0U) != 0x80 ? 1 : 0;
  return n > limit;
}

}  // namespace

Result<std::unique_ptr<WordPiece>> WordPiece::make(const Vocabulary& vocabulary, WordPieceSpec spec) {
  std::vector<PieceTrie::Entry> entries;
  entries.reserve(vocabulary.size());
  for (TokenId id = 0; vocabulary.has(id); ++id) {
    const auto idx = static_cast<size_t>(id);
    if (idx < spec.is_added_only.size() && spec.is_added_only[idx]) continue;
    if (is_valid_utf8(vocabulary.piece(id))) entries.push_back({vocabulary.piece(id), id});
  }
  std::unique_ptr<WordPiece> out(new WordPiece(std::move(spec)));
  VITRO_TRY_ASSIGN(out->trie_, PieceTrie::make(std::move(entries)));
  const std::string& prefix = out->spec_.continuing_prefix;
  out->inside_ = out->trie_.walk(PieceTrie::kRoot, prefix);
  out->has_inside_ = prefix.empty() || out->inside_ != PieceTrie::kRoot;
  return out;
}

void WordPiece::encode(std::string_view text, std::span<const ByteRange> words, std::vector<TextToken>& out) const {
  for (const ByteRange& word : words) {
    const size_t n_before = out.size();
    const bool is_too_long = is_longer_than(text.substr(word.begin, word.size()), spec_.max_word_characters);
    if (!is_too_long && cut(text, word, out)) continue;
    out.resize(n_before);
    out.push_back({spec_.unknown_id, word});
  }
}

bool WordPiece::cut(std::string_view text, ByteRange word, std::vector<TextToken>& out) const {
  for (size_t begin = word.begin; begin < word.end;) {
    if (begin > word.begin && !has_inside_) return false;
    PieceTrie::Node node = begin == word.begin ? PieceTrie::kRoot : inside_;
    TextToken longest{-1, {begin, begin}};
    for (size_t pos = begin; pos < word.end; ++pos) {
      node = trie_.step(node, static_cast<uint8_t>(text[pos]));
      if (node == PieceTrie::kRoot) break;
      if (trie_.id(node) >= 0) longest = {trie_.id(node), {begin, pos + 1}};
    }
    if (longest.id < 0) return false;
    out.push_back(longest);
    begin = longest.range.end;
  }
  return true;
}

}  // namespace vitro
