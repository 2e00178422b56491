// Symbols in a linked list, candidates in a heap. Texts of character alphabets are first cut where no piece of the
// vocabulary holds the two neighbouring characters, because no merge can cross such a place: that keeps heaps small
// without changing a token.
#include "tokens/bpe.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <queue>

#include "text/byte_level.h"
#include "text/utf8.h"

namespace vitro {
namespace {

constexpr size_t kMaxProbes = 512;
constexpr int kNeighbourBits = 20;

uint64_t mix(uint64_t x) {
  x *= 0x9E3779B97F4A7C15ULL;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93ULL;
  return x ^ (x >> 32);
}

uint64_t pair_hash(TokenId left, TokenId right) {
  return mix((static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32) | static_cast<uint32_t>(right));
}

/// Place of a pair of characters in the bit set of neighbours. Pairs may share a place: then a cut is missed, never a
/// merge.
size_t neighbour_place(char32_t first, char32_t second) {
  return static_cast<size_t>(mix((static_cast<uint64_t>(first) << 32) | second) >> (64 - kNeighbourBits));
}

/// Ranks order scores from the highest down: the bits of a float, made to compare like the number, upside down.
uint32_t rank_of_score(float score) {
  const auto bits = std::bit_cast<uint32_t>(score == 0 ? 0.0F : score);
  const uint32_t ascending = (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
  return ~ascending;
}

char32_t character_at(std::string_view text, size_t pos) { return decode_utf8(text.substr(pos)).value; }

char32_t last_character(std::string_view text, size_t end) {
  size_t pos = end - 1;
  while (pos > 0 && (static_cast<uint8_t>(text[pos]) & 0xC0U) == 0x80) --pos;
  return character_at(text, pos);
}

}  // namespace

MergeTable::MergeTable(size_t n_merges) {
  merges_.reserve(n_merges);
  slots_.resize(std::bit_ceil(std::max<size_t>(16, n_merges + n_merges / 2)));
}

Status MergeTable::add(const Merge& merge) {
  if (merges_.size() >= slots_.size() - slots_.size() / 8)
    return fail(ErrorCode::kInternal, "more merges than room was made for");
  const size_t mask = slots_.size() - 1;
  const uint64_t hash = pair_hash(merge.left, merge.right);
  for (size_t i = 0; i < kMaxProbes; ++i) {
    uint32_t& slot = slots_[(hash + i) & mask];
    if (slot == 0) {
      merges_.push_back(merge);
      slot = static_cast<uint32_t>(merges_.size());
      return {};
    }
    const Merge& other = merges_[slot - 1];
    if (other.left == merge.left && other.right == merge.right) return {};
  }
  return fail(ErrorCode::kCorrupt, "merges are made to collide in a hash table");
}

const MergeTable::Merge* MergeTable::find(TokenId left, TokenId right) const {
  const size_t mask = slots_.size() - 1;
  const uint64_t hash = pair_hash(left, right);
  for (size_t i = 0; i < kMaxProbes; ++i) {
    const uint32_t slot = slots_[(hash + i) & mask];
    if (slot == 0) return nullptr;
    const Merge& merge = merges_[slot - 1];
    if (merge.left == left && merge.right == right) return &merge;
  }
  return nullptr;
}

Bpe::Bpe(const Vocabulary& vocabulary, BpeSpec spec)
    : vocabulary_(&vocabulary),
      merges_(std::move(spec.merges)),
      options_(spec.options),
      is_added_only_(std::move(spec.is_added_only)) {}

Result<std::unique_ptr<TokenModel>> Bpe::make(const Vocabulary& vocabulary, BpeSpec spec) {
  std::unique_ptr<Bpe> out(new Bpe(vocabulary, std::move(spec)));
  VITRO_TRY(out->find_bytes());
  if (out->options_.alphabet == BpeAlphabet::kCharacters && !out->merges_bytes()) out->find_neighbours();
  return std::unique_ptr<TokenModel>(std::move(out));
}

/// Id of a piece of the model, or -1.
TokenId Bpe::find(std::string_view piece) const {
  const TokenId id = vocabulary_->find(piece);
  const auto idx = static_cast<size_t>(id);
  return id >= 0 && idx < is_added_only_.size() && is_added_only_[idx] ? -1 : id;
}

Status Bpe::find_bytes() {
  byte_ids_.fill(-1);
  ascii_ids_.fill(-1);
  if (options_.alphabet == BpeAlphabet::kBytes) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const char c = static_cast<char>(byte);
      byte_ids_[byte] = find(to_byte_level({&c, 1}));
    }
    return {};
  }
  for (size_t c = 0; c < 128; ++c) {
    const char character = static_cast<char>(c);
    ascii_ids_[c] = find({&character, 1});
  }
  if (!options_.has_byte_fallback) return {};
  for (TokenId id = 0; vocabulary_->has(id); ++id) {
    if (vocabulary_->kind(id) != TokenKind::kByte) continue;
    const int byte = byte_token_value(vocabulary_->piece(id));
    if (byte < 0) continue;
    TokenId& slot = byte_ids_[static_cast<size_t>(byte)];
    if (slot >= 0) return fail(ErrorCode::kCorrupt, "byte 0x{:02X} has two tokens, {} and {}", byte, slot, id);
    slot = id;
  }
  return {};
}

/// True if a merge takes byte tokens: their pieces do not show the characters that meet.
bool Bpe::merges_bytes() const {
  return std::any_of(merges_.merges().begin(), merges_.merges().end(), [&](const MergeTable::Merge& merge) {
    return vocabulary_->kind(merge.left) == TokenKind::kByte || vocabulary_->kind(merge.right) == TokenKind::kByte;
  });
}

void Bpe::find_neighbours() {
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

TokenId Bpe::character_id(std::string_view character) const {
  if (character.size() == 1 && static_cast<uint8_t>(character[0]) < 128) {
    return ascii_ids_[static_cast<uint8_t>(character[0])];
  }
  return find(character);
}

void Bpe::add_character(std::string_view word, ByteRange range, std::vector<Symbol>& out) const {
  const std::string_view character = word.substr(range.begin, range.size());
  const auto begin = static_cast<uint32_t>(range.begin);
  const auto n_bytes = static_cast<uint32_t>(range.size());
  const auto byte_id = [&](char c) { return byte_ids_[static_cast<uint8_t>(c)]; };
  if (const TokenId id = character_id(character); id >= 0) {
    out.push_back({id, begin, n_bytes, -1, -1});
  } else if (std::all_of(character.begin(), character.end(), [&](char c) { return byte_id(c) >= 0; })) {
    for (uint32_t i = 0; i < n_bytes; ++i) out.push_back({byte_id(character[i]), begin + i, 1, -1, -1});
  } else if (options_.unknown_id >= 0) {
    const bool fuses = options_.fuses_unknown && !out.empty() && out.back().id == options_.unknown_id;
    if (fuses) {
      out.back().n_bytes += n_bytes;
    } else {
      out.push_back({options_.unknown_id, begin, n_bytes, -1, -1});
    }
  }
}

std::vector<Bpe::Symbol> Bpe::symbols_of(std::string_view word) const {
  std::vector<Symbol> out;
  out.reserve(word.size());
  for (size_t pos = 0; pos < word.size();) {
    if (options_.alphabet == BpeAlphabet::kBytes) {
      const TokenId known = byte_ids_[static_cast<uint8_t>(word[pos])];
      const TokenId id = known >= 0 ? known : options_.unknown_id;
      if (id >= 0) out.push_back({id, static_cast<uint32_t>(pos), 1, -1, -1});
      ++pos;
    } else {
      const auto n_bytes = static_cast<size_t>(decode_utf8(word.substr(pos)).n_bytes);
      add_character(word, {pos, pos + n_bytes}, out);
      pos += n_bytes;
    }
  }
  return out;
}

Bpe::Join Bpe::join_of(std::string_view word, const Symbol& left, const Symbol& right) const {
  if (options_.order == BpeOrder::kRanks) {
    const MergeTable::Merge* merge = merges_.find(left.id, right.id);
    return merge == nullptr ? Join{} : Join{merge->rank, merge->joined};
  }
  const size_t n_bytes = size_t{left.n_bytes} + right.n_bytes;
  const TokenId id = find(word.substr(left.begin, n_bytes));
  if (id < 0) return {};
  // As in SentencePiece, text never merges into control, unknown or byte tokens.
  const TokenKind kind = vocabulary_->kind(id);
  if (kind == TokenKind::kControl || kind == TokenKind::kUnknown || kind == TokenKind::kByte) return {};
  return {rank_of_score(vocabulary_->score(id)), id};
}

bool Bpe::may_join(std::string_view word, const Symbol& left, const Symbol& right) const {
  if (neighbours_.empty()) return true;
  const size_t place =
      neighbour_place(last_character(word, left.begin + left.n_bytes), character_at(word, right.begin));
  return ((neighbours_[place / 64] >> (place % 64)) & 1) != 0;
}

void Bpe::merge_run(std::string_view word, std::vector<Symbol>& symbols, size_t begin, size_t end) const {
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto first = static_cast<int32_t>(begin);
  const auto last = static_cast<int32_t>(end);
  const auto offer = [&](int32_t left, int32_t right) {
    if (left < first || right < first || right >= last) return;
    const Join join = join_of(word, symbols[static_cast<size_t>(left)], symbols[static_cast<size_t>(right)]);
    if (join.id >= 0) queue.push({(static_cast<uint64_t>(join.rank) << 32) | static_cast<uint32_t>(left), join.id});
  };
  for (int32_t i = first; i < last; ++i) {
    symbols[static_cast<size_t>(i)].previous = i > first ? i - 1 : -1;
    symbols[static_cast<size_t>(i)].next = i + 1 < last ? i + 1 : -1;
  }
  for (int32_t i = first; i + 1 < last; ++i) offer(i, i + 1);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    const auto at = static_cast<int32_t>(best.priority & 0xFFFFFFFFU);
    Symbol& left = symbols[static_cast<size_t>(at)];
    if (left.n_bytes == 0 || left.next < 0) continue;
    Symbol& right = symbols[static_cast<size_t>(left.next)];
    // The neighbours may have changed since; what counts, as in the reference, is that they still join to the same
    // token.
    if (join_of(word, left, right).id != best.joined) continue;
    left.id = best.joined;
    left.n_bytes = right.begin + right.n_bytes - left.begin;
    left.next = right.next;
    right.n_bytes = 0;
    if (left.next >= 0) symbols[static_cast<size_t>(left.next)].previous = at;
    offer(left.previous, at);
    offer(at, left.next);
  }
}

bool Bpe::take_whole(std::string_view text, ByteRange word, std::vector<TextToken>& out) const {
  const std::string_view bytes = text.substr(word.begin, word.size());
  const TokenId id = find(options_.alphabet == BpeAlphabet::kBytes ? to_byte_level(bytes) : std::string(bytes));
  if (id < 0) return false;
  out.push_back({id, word});
  return true;
}

void Bpe::encode(std::string_view text, std::span<const ByteRange> words, std::vector<TextToken>& out) const {
  for (const ByteRange& word : words) encode_word(text, word, out);
}

void Bpe::encode_word(std::string_view text, ByteRange range, std::vector<TextToken>& out) const {
  if (options_.takes_whole_words && range.size() <= vocabulary_->longest_piece() && take_whole(text, range, out))
    return;
  const std::string_view word = text.substr(range.begin, range.size());
  std::vector<Symbol> symbols = symbols_of(word);
  for (size_t begin = 0; begin < symbols.size();) {
    size_t end = begin + 1;
    while (end < symbols.size() && may_join(word, symbols[end - 1], symbols[end])) ++end;
    merge_run(word, symbols, begin, end);
    begin = end;
  }
  for (const Symbol& symbol : symbols) {
    if (symbol.n_bytes == 0) continue;
    const size_t begin = range.begin + symbol.begin;
    out.push_back({symbol.id, {begin, begin + symbol.n_bytes}});
  }
}

}  // namespace vitro
