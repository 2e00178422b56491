// Short words: the ranks of all pairs lie in one array, of which the smallest is looked for after every merge; that is
// a few vector instructions. Long words: symbols in a linked list, candidates in a heap. Both give the same tokens.
#include "tokens/bpe_encoder.h"

#include <algorithm>
#include <bit>

#include "text/byte_level.h"
#include "text/utf8.h"

namespace vitro {
namespace {

constexpr uint32_t kNoKey = UINT32_MAX;
constexpr uint32_t kPlaceBits = BpeTables::kPlaceBits;
constexpr size_t kMaxSeenBytes = 64;  // longer words rarely come again
constexpr size_t kMinSeen = 64;
constexpr size_t kMaxSeen = 8192;

/// The text is valid UTF-8.
CodePoint character_at(std::string_view text, size_t pos) {
  const auto byte = [&](size_t i) { return static_cast<char32_t>(static_cast<uint8_t>(text[pos + i])); };
  const char32_t first = byte(0);
  if (first < 0x80) return {first, 1, true};
  if (first < 0xE0) return {((first & 0x1F) << 6) | (byte(1) & 0x3F), 2, true};
  if (first < 0xF0) return {((first & 0x0F) << 12) | ((byte(1) & 0x3F) << 6) | (byte(2) & 0x3F), 3, true};
  return {((first & 0x07) << 18) | ((byte(1) & 0x3F) << 12) | ((byte(2) & 0x3F) << 6) | (byte(3) & 0x3F), 4, true};
}

}  // namespace

void BpeEncoder::start(std::string_view text, std::vector<TextToken>& out) {
  text_ = text;
  out_ = &out;
  fused_end_ = 0;
  is_valid_utf8_ = true;
}

void BpeEncoder::encode(std::string_view text, std::span<const ByteRange> words, std::vector<TextToken>& out) {
  start(text, out);
  seen_.assign(std::bit_ceil(std::clamp(text.size() / 8, kMinSeen, kMaxSeen)), {});
  out.reserve(out.size() + text.size() / 4);
  for (const ByteRange& word : words) encode_word(word);
  encode_parts();
}

bool BpeEncoder::is_one_token(std::string_view text, TokenId id) {
  trial_.clear();
  start(text, trial_);
  is_valid_utf8_ = false;
  merge_part({0, text.size()});
  return trial_.size() == 1 && trial_[0].id == id;
}

void BpeEncoder::encode_word(ByteRange word) {
  const BpeOptions& options = tables_.options();
  if (options.takes_whole_words && options.alphabet == BpeAlphabet::kCharacters) {
    if (const TokenId id = tables_.find(text_.substr(word.begin, word.size())); id >= 0) {
      encode_parts();
      return out_->push_back({id, word});
    }
  }
  if (tables_.cuts_words()) return encode_runs(word);
  add_part(word, true);
}

void BpeEncoder::encode_runs(ByteRange word) {
  const bool has_far_ranks = tables_.options().order == BpeOrder::kRanks;
  size_t begin = word.begin;
  char32_t before = 0;
  TokenId id_before = -1;
  for (size_t pos = word.begin; pos < word.end;) {
    const CodePoint point = character_at(text_, pos);
    const TokenId id = tables_.basic_symbol(point.value);
    if (pos > begin && !tables_.may_join(before, point.value)) {
      add_part({begin, pos}, begin == word.begin);
      begin = pos;
    } else if (has_far_ranks && id_before >= 0 && id >= 0) {
      tables_.prefetch_join(id_before, id);
    }
    before = point.value;
    id_before = id;
    pos += static_cast<size_t>(point.n_bytes);
  }
  if (begin < word.end) add_part({begin, word.end}, begin == word.begin);
}

bool BpeEncoder::is_looked_up(ByteRange part) const {
  return part.size() <= kMaxSeenBytes || tables_.options().takes_whole_words;
}

void BpeEncoder::add_part(ByteRange range, bool begins_word) {
  if (n_parts_ == parts_.size()) encode_parts();
  Part& part = parts_[n_parts_++];
  part = {range, {}, begins_word};
  if (!is_looked_up(range)) return;
  part.key = WordKey(text_.substr(range.begin, range.size()));
  tables_.prefetch_whole(part.key);
}

void BpeEncoder::encode_parts() {
  for (size_t i = 0; i < n_parts_; ++i) encode_part(parts_[i]);
  n_parts_ = 0;
}

void BpeEncoder::encode_part(const Part& part) {
  const ByteRange range = part.range;
  if (part.begins_word) fused_end_ = 0;
  if (!is_looked_up(range)) return merge_part(range);
  const TokenId id = tables_.whole(text_.substr(range.begin, range.size()), part.key);
  if (id >= 0) return out_->push_back({id, range});
  if (range.size() > kMaxSeenBytes) return merge_part(range);
  if (copy_seen(range, part.key)) return;
  const size_t first_token = out_->size();
  const bool joins_before = fused_end_ == range.begin && fused_end_ != 0;
  merge_part(range);
  const bool has_unknown = fused_end_ > range.begin;
  if (!joins_before && !has_unknown) remember(range, part.key, first_token);
}

bool BpeEncoder::copy_seen(ByteRange part, const WordKey& key) {
  const Seen seen = seen_[key.hash & (seen_.size() - 1)];
  if (seen.hash != key.hash || seen.n_bytes != part.size()) return false;
  if (text_.substr(seen.begin, seen.n_bytes) != text_.substr(part.begin, part.size())) return false;
  const size_t shift = part.begin - seen.begin;  // words come in order
  for (size_t i = 0; i < seen.n_tokens; ++i) {
    const TextToken token = (*out_)[seen.first_token + i];
    out_->push_back({token.id, {token.range.begin + shift, token.range.end + shift}});
  }
  return true;
}

void BpeEncoder::remember(ByteRange part, const WordKey& key, size_t first_token) {
  seen_[key.hash & (seen_.size() - 1)] = {key.hash, static_cast<uint32_t>(part.begin),
                                          static_cast<uint32_t>(part.size()), static_cast<uint32_t>(first_token),
                                          static_cast<uint32_t>(out_->size() - first_token)};
}

void BpeEncoder::merge_part(ByteRange part) {
  symbols_.clear();
  add_symbols(part);
  if (symbols_.size() <= kSmall && !tables_.needs_heap()) {
    merge_small(part);
  } else {
    merge_large();
  }
  emit();
}

void BpeEncoder::add_symbols(ByteRange part) {
  if (is_valid_utf8_ && !tables_.character_starts().empty()) {
    add_character_starts(part);
  } else if (tables_.options().alphabet == BpeAlphabet::kBytes) {
    add_byte_symbols(part);
  } else {
    add_character_symbols(part);
  }
}

void BpeEncoder::add_byte_symbols(ByteRange part) {
  const BpeOptions& options = tables_.options();
  symbols_.reserve(part.size());
  for (size_t pos = part.begin; pos < part.end; ++pos) {
    const auto begin = static_cast<uint32_t>(pos);
    const TokenId id = tables_.byte_symbol(static_cast<uint8_t>(text_[pos]), pos == part.begin, pos + 1 == part.end);
    if (id >= 0) {
      symbols_.push_back({id, begin, 1, false});
    } else if (options.unknown_id >= 0 && options.fuses_unknown && !symbols_.empty() && symbols_.back().is_unknown) {
      ++symbols_.back().n_bytes;
    } else if (options.unknown_id >= 0) {
      symbols_.push_back({options.unknown_id, begin, 1, true});
    }
  }
}

void BpeEncoder::add_character_starts(ByteRange part) {
  const CharacterStarts& starts = tables_.character_starts();
  const auto byte = [&](size_t pos) { return static_cast<uint8_t>(text_[pos]); };
  const auto add_byte = [&](size_t pos) {
    const TokenId id = tables_.byte_symbol(byte(pos), true, false);
    symbols_.push_back({id, static_cast<uint32_t>(pos), 1, false});
  };
  for (size_t pos = part.begin; pos < part.end;) {
    if (byte(pos) < 0x80) {
      add_byte(pos++);
      continue;
    }
    const CodePoint point = character_at(text_, pos);
    const size_t end = pos + static_cast<size_t>(point.n_bytes);
    const auto start = point.value < CharacterStarts::kEnd ? starts.of(point.value) : CharacterStarts::Start{};
    const bool holds =
        start.n_first > 0 && (start.limits == 0 || ((pos == part.begin || starts.holds_after(start, byte(pos - 1))) &&
                                                    (end == part.end || starts.holds_before(start, byte(end)))));
    if (!holds) {
      while (pos < end) add_byte(pos++);
      continue;
    }
    symbols_.push_back({start.first, static_cast<uint32_t>(pos), start.n_first, false});
    pos += start.n_first;
    if (pos < end)
      symbols_.push_back({start.second, static_cast<uint32_t>(pos), static_cast<uint32_t>(end - pos), false});
    pos = end;
  }
}

void BpeEncoder::add_character_symbols(ByteRange part) {
  const BpeOptions& options = tables_.options();
  size_t pending = SIZE_MAX;  // unknown characters wait for the next that is known: bytes go before them
  Symbol unknown{options.unknown_id, 0, 0, true};
  const auto flush = [&] {
    if (pending != SIZE_MAX) symbols_.push_back(unknown);
    pending = SIZE_MAX;
  };
  for (size_t pos = part.begin; pos < part.end;) {
    const CodePoint point = character_at(text_, pos);
    const ByteRange character{pos, pos + static_cast<size_t>(point.n_bytes)};
    pos = character.end;
    const auto begin = static_cast<uint32_t>(character.begin);
    const auto n_bytes = static_cast<uint32_t>(character.size());
    if (const TokenId id = character_symbol(part, character, point.value); id >= 0) {
      flush();
      symbols_.push_back({id, begin, n_bytes, false});
    } else if (options.has_byte_fallback && add_byte_tokens(character)) {
      continue;
    } else if (options.unknown_id >= 0) {
      if (pending != SIZE_MAX && options.fuses_unknown) {
        unknown.n_bytes += n_bytes;
        continue;
      }
      flush();
      pending = begin;
      unknown.begin = begin;
      unknown.n_bytes = n_bytes;
    }
  }
  flush();
  if (options.unknown_id >= 0 || tables_.has_affixes()) put_in_order(part);
}

/// Symbols stand for the bytes of the part one after another, as the reference counts them.
void BpeEncoder::put_in_order(ByteRange part) {
  size_t begin = part.begin;
  for (Symbol& symbol : symbols_) {
    const size_t end = std::min(begin + symbol.n_bytes, part.end);
    symbol.begin = static_cast<uint32_t>(begin);
    symbol.n_bytes = static_cast<uint32_t>(end - begin);
    begin = end;
  }
}

TokenId BpeEncoder::character_symbol(ByteRange part, ByteRange character, char32_t code) {
  const std::string_view text = text_.substr(character.begin, character.size());
  if (!tables_.has_affixes()) return tables_.character_symbol(code, text);
  scratch_.clear();
  if (character.begin != part.begin) scratch_ += tables_.options().continuing_prefix;
  scratch_ += text;
  if (character.end == part.end) scratch_ += tables_.options().word_suffix;
  return tables_.find(scratch_);
}

/// One token a byte, if every byte has one. Bytes of a prefix or suffix count as bytes of the text, as in the
/// reference.
bool BpeEncoder::add_byte_tokens(ByteRange character) {
  const std::string_view bytes =
      tables_.has_affixes() ? std::string_view(scratch_) : text_.substr(character.begin, character.size());
  for (const char byte : bytes) {
    if (tables_.byte_token(static_cast<uint8_t>(byte)) < 0) return false;
  }
  auto begin = static_cast<uint32_t>(character.begin);
  for (const char byte : bytes) {
    symbols_.push_back({tables_.byte_token(static_cast<uint8_t>(byte)), begin++, 1, false});
  }
  return true;
}

BpeJoin BpeEncoder::join_of(const Symbol& left, const Symbol& right) const {
  if (tables_.options().order == BpeOrder::kRanks) return tables_.join_by_rank(left.id, right.id);
  return tables_.join_by_score(text_.substr(left.begin, size_t{left.n_bytes} + right.n_bytes));
}

void BpeEncoder::join(Symbol& left, Symbol& right, TokenId joined) {
  left.id = joined;
  left.n_bytes = right.begin + right.n_bytes - left.begin;
  left.is_unknown = false;
  right.id = -1;
}

void BpeEncoder::offer_small(size_t left, const BpeJoin& join) {
  keys_[left] = join.id < 0 ? kNoKey : (join.rank << kPlaceBits) | static_cast<uint32_t>(left);
  joined_[left] = join.id;
}

void BpeEncoder::merge_small(ByteRange part) {
  const size_t n = symbols_.size();
  if (n < 2) return;
  const size_t n_padded = (n + 7) / 8 * 8;
  std::fill_n(keys_.begin() + static_cast<std::ptrdiff_t>(n - 1), n_padded - (n - 1), kNoKey);
  const bool are_bytes = tables_.has_byte_pairs() && n == part.size();
  const bool has_far_ranks = !are_bytes && n > 2 && tables_.options().order == BpeOrder::kRanks;
  for (size_t i = 0; has_far_ranks && i + 1 < n; ++i) tables_.prefetch_join(symbols_[i].id, symbols_[i + 1].id);
  for (size_t i = 0; i < n; ++i) {
    small_next_[i] = static_cast<uint16_t>(i + 1);
    small_previous_[i] = static_cast<uint16_t>(i - 1);
    if (i + 1 == n) break;
    if (are_bytes) {
      const auto byte = [&](size_t pos) { return static_cast<uint8_t>(text_[part.begin + pos]); };
      offer_small(i, tables_.join_of_bytes(byte(i), byte(i + 1)));
    } else {
      offer_small(i, join_of(symbols_[i], symbols_[i + 1]));
    }
  }
  for (;;) {
    uint32_t best = kNoKey;
    for (size_t i = 0; i < n_padded; ++i) best = std::min(best, keys_[i]);
    if (best == kNoKey) return;
    const size_t at = best & (kSmall - 1);
    const size_t gone = small_next_[at];
    join(symbols_[at], symbols_[gone], joined_[at]);
    keys_[gone] = kNoKey;
    const size_t next = small_next_[gone];
    small_next_[at] = static_cast<uint16_t>(next);
    if (next < n) {
      small_previous_[next] = static_cast<uint16_t>(at);
      offer_small(at, join_of(symbols_[at], symbols_[next]));
    } else {
      keys_[at] = kNoKey;
    }
    if (at == 0) continue;
    const size_t previous = small_previous_[at];
    offer_small(previous, join_of(symbols_[previous], symbols_[at]));
  }
}

void BpeEncoder::offer_large(int32_t left, int32_t right) {
  if (left < 0 || right < 0) return;
  const BpeJoin join = join_of(symbols_[static_cast<size_t>(left)], symbols_[static_cast<size_t>(right)]);
  if (join.id < 0) return;
  heap_.push_back({(static_cast<uint64_t>(join.rank) << 32) | static_cast<uint32_t>(left), join.id});
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void BpeEncoder::merge_large() {
  const auto n = static_cast<int32_t>(symbols_.size());
  next_.resize(symbols_.size());
  previous_.resize(symbols_.size());
  heap_.clear();
  for (int32_t i = 0; i < n; ++i) {
    previous_[static_cast<size_t>(i)] = i - 1;
    next_[static_cast<size_t>(i)] = i + 1 < n ? i + 1 : -1;
  }
  for (int32_t i = 0; i + 1 < n; ++i) offer_large(i, i + 1);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const Candidate best = heap_.back();
    heap_.pop_back();
    const auto at = static_cast<size_t>(best.priority & 0xFFFFFFFFU);
    Symbol& left = symbols_[at];
    if (left.id < 0 || next_[at] < 0) continue;
    const auto gone = static_cast<size_t>(next_[at]);
    // The neighbours may have changed since; what counts, as in the reference, is that they still join to the same
    // token.
    if (join_of(left, symbols_[gone]).id != best.joined) continue;
    join(left, symbols_[gone], best.joined);
    next_[at] = next_[gone];
    if (next_[at] >= 0) previous_[static_cast<size_t>(next_[at])] = static_cast<int32_t>(at);
    offer_large(previous_[at], static_cast<int32_t>(at));
    offer_large(static_cast<int32_t>(at), next_[at]);
  }
}

void BpeEncoder::emit() {
  const bool fuses = tables_.options().fuses_unknown;
  for (const Symbol& symbol : symbols_) {
    if (symbol.id < 0) continue;
    const size_t end = size_t{symbol.begin} + symbol.n_bytes;
    if (symbol.is_unknown && fuses && fused_end_ == symbol.begin && fused_end_ != 0) {
      out_->back().range.end = end;
    } else {
      out_->push_back({symbol.id, {symbol.begin, end}});
    }
    if (symbol.is_unknown) fused_end_ = end;
  }
}

}  // namespace vitro
