#include "tokens/bpe_tables.h"

#include <algorithm>
#include <bit>

#include "text/byte_level.h"
#include "text/byte_range.h"
#include "text/utf8.h"
#include "tokens/bpe_encoder.h"

namespace vitro {
namespace {

constexpr size_t kBasicPlane = 0x10000;
constexpr size_t kMaxWholeBytes = 128;  // longer words need not be quick

}  // namespace

Result<BpeTables> BpeTables::make(const Vocabulary& vocabulary, BpeSpec spec) {
  BpeTables out;
  out.vocabulary_ = &vocabulary;
  out.merges_ = std::move(spec.merges);
  out.options_ = std::move(spec.options);
  out.is_added_only_ = std::move(spec.is_added_only);
  for (auto& symbols : out.byte_symbols_) symbols.fill(-1);
  out.byte_tokens_.fill(-1);
  if (out.options_.order == BpeOrder::kScores) out.rank_scores();
  if (out.options_.alphabet == BpeAlphabet::kBytes) {
    out.find_byte_symbols();
  } else {
    VITRO_TRY(out.find_byte_tokens());
    if (!out.has_affixes()) out.find_characters();
  }
  const bool merges_stand_ins = out.merges_stand_ins();
  out.needs_heap_ = merges_stand_ins || out.has_large_ranks();
  if (out.options_.alphabet == BpeAlphabet::kBytes && !out.has_affixes()) out.find_byte_pairs();
  if (out.options_.alphabet == BpeAlphabet::kCharacters && !out.has_affixes() && !merges_stand_ins &&
      out.keeps_every_character()) {
    out.find_neighbours();
  }
  VITRO_TRY(out.find_whole_words());
  return out;
}

void BpeTables::find_byte_symbols() {
  for (size_t place = 0; place < 4; ++place) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const char c = static_cast<char>(byte);
      std::string piece = to_byte_level({&c, 1});
      if (place >= 2) piece.insert(0, options_.continuing_prefix);
      if (place % 2 == 1) piece += options_.word_suffix;
      byte_symbols_[place][byte] = find(piece);
    }
  }
}

Status BpeTables::find_byte_tokens() {
  if (!options_.has_byte_fallback) return {};
  for (TokenId id = 0; vocabulary_->has(id); ++id) {
    if (vocabulary_->kind(id) != TokenKind::kByte) continue;
    const int byte = byte_token_value(vocabulary_->piece(id));
    if (byte < 0) continue;
    TokenId& slot = byte_tokens_[static_cast<size_t>(byte)];
    if (slot >= 0) return fail(ErrorCode::kCorrupt, "byte 0x{:02X} has two tokens, {} and {}", byte, slot, id);
    slot = id;
  }
  return {};
}

void BpeTables::find_characters() {
  characters_.assign(kBasicPlane, -1);
  for (TokenId id = 0; vocabulary_->has(id); ++id) {
    const std::string_view piece = vocabulary_->piece(id);
    if (piece.empty() || piece.size() > 3 || !knows(id)) continue;
    const CodePoint point = decode_utf8(piece);
    if (!point.is_valid || static_cast<size_t>(point.n_bytes) != piece.size()) continue;
    characters_[point.value] = id;
  }
}

bool BpeTables::merges_stand_ins() const {
  if (options_.alphabet == BpeAlphabet::kBytes) return false;
  const auto is_stand_in = [&](TokenId id) {
    return id == options_.unknown_id || vocabulary_->kind(id) == TokenKind::kByte;
  };
  return std::any_of(merges_.slots().begin(), merges_.slots().end(), [&](const MergeTable::Merge& merge) {
    return merge.left >= 0 && (is_stand_in(merge.left) || is_stand_in(merge.right));
  });
}

bool BpeTables::has_large_ranks() const {
  return std::any_of(merges_.slots().begin(), merges_.slots().end(),
                     [](const MergeTable::Merge& merge) { return merge.rank >= UINT32_MAX >> kPlaceBits; });
}

/// No character vanishes, which would make neighbours of those around it, and none waits for those after it.
bool BpeTables::keeps_every_character() const {
  if (!options_.has_byte_fallback) return options_.unknown_id >= 0;
  return std::find(byte_tokens_.begin(), byte_tokens_.end(), -1) == byte_tokens_.end();
}

void BpeTables::find_neighbours() {
  neighbours_.assign((size_t{1} << kNeighbourBits) / 64, 0);
  for (TokenId id = 0; vocabulary_->has(id); ++id) {
    const std::string_view piece = vocabulary_->piece(id);
    char32_t before = 0;
    for (size_t pos = 0; pos < piece.size();) {
      const CodePoint point = decode_utf8(piece.substr(pos));
      const size_t place = neighbour_place(before, point.value);
      if (pos > 0) neighbours_[place / 64] |= uint64_t{1} << (place % 64);
      before = point.value;
      pos += static_cast<size_t>(point.n_bytes);
    }
  }
}

void BpeTables::find_byte_pairs() {
  if (std::find(byte_symbols_[0].begin(), byte_symbols_[0].end(), -1) != byte_symbols_[0].end()) return;
  std::vector<int> byte_of(vocabulary_->size(), -1);
  for (size_t byte = 0; byte < 256; ++byte) {
    if (byte_symbols_[0][byte] >= 0) byte_of[static_cast<size_t>(byte_symbols_[0][byte])] = static_cast<int>(byte);
  }
  byte_pairs_.resize(size_t{256} * 256);
  for (const MergeTable::Merge& merge : merges_.slots()) {
    if (merge.left < 0) continue;
    const int left = byte_of[static_cast<size_t>(merge.left)];
    const int right = byte_of[static_cast<size_t>(merge.right)];
    if (left >= 0 && right >= 0) byte_pairs_[static_cast<size_t>(256 * left + right)] = {merge.rank, merge.joined};
  }
  character_starts_ = CharacterStarts(merges_, *vocabulary_, byte_symbols_[0]);
}

/// Scores in order, the highest first: what counts is only which is higher.
void BpeTables::rank_scores() {
  const auto n_ids = static_cast<TokenId>(vocabulary_->size());
  std::vector<float> scores;
  scores.reserve(vocabulary_->size());
  for (TokenId id = 0; id < n_ids; ++id) scores.push_back(vocabulary_->score(id));
  std::sort(scores.begin(), scores.end(), std::greater<>());
  scores.erase(std::unique(scores.begin(), scores.end()), scores.end());
  for (TokenId id = 0; id < n_ids; ++id) {
    const auto place = std::lower_bound(scores.begin(), scores.end(), vocabulary_->score(id), std::greater<>());
    score_ranks_.push_back(static_cast<uint32_t>(place - scores.begin()));
  }
}

BpeJoin BpeTables::join_by_score(std::string_view text) const {
  const TokenId id = vocabulary_->find(text);
  if (id < 0) return {};
  // As in SentencePiece, text never merges into control, unknown or byte tokens.
  const TokenKind kind = vocabulary_->kind(id);
  if (kind == TokenKind::kControl || kind == TokenKind::kUnknown || kind == TokenKind::kByte) return {};
  return {score_ranks_[static_cast<size_t>(id)], id};
}

/// The text of which a piece would be the word; empty if there is none.
std::string BpeTables::text_of(TokenId id) const {
  const std::string_view piece = vocabulary_->piece(id);
  if (options_.alphabet == BpeAlphabet::kBytes) return from_byte_level(piece).value_or("");
  return is_valid_utf8(piece) ? std::string(piece) : std::string();
}

Status BpeTables::find_whole_words() {
  const bool takes_all = options_.takes_whole_words && options_.alphabet == BpeAlphabet::kBytes;
  if (has_affixes() && !takes_all) return {};
  WordTable table(vocabulary_->size(), 0);
  BpeEncoder encoder(*this);
  for (TokenId id = 0; vocabulary_->has(id); ++id) {
    if (!knows(id)) continue;
    const std::string text = text_of(id);
    if (text.empty() || (text.size() > kMaxWholeBytes && !takes_all)) continue;
    if (takes_all || encoder.is_one_token(text, id)) VITRO_TRY(table.add(text, id));
  }
  whole_ = std::move(table);
  return {};
}

}  // namespace vitro
