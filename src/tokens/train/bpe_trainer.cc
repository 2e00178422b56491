// Symbols of all distinct words are one doubly linked row; each pair that waits in the queue brings the places where it
// was seen, so that a merge touches only these.
//
// A pair can wait with several entries, each with places of its own: when a merge makes a piece that existed before,
// its new neighbours may form pairs that wait already. The reference then merges entry by entry (words of one entry
// first) and ranks such a pair by its last merge; the order of later merges depends on it, so that is done here too.
#include "tokens/train/bpe_trainer.h"

#include <algorithm>
#include <map>
#include <queue>
#include <unordered_map>

#include "text/utf8.h"
#include "tokens/train/pair_table.h"

namespace vitro {
namespace {

constexpr int32_t kNone = -1;
constexpr size_t kMaxSymbols = std::numeric_limits<int32_t>::max();

struct Symbol {
  TokenId id = kNone;  ///< kNone: joined into the one before
  int32_t previous = kNone;
  int32_t next = kNone;
  uint32_t word = 0;
};

/// Places where a pair was seen, waiting in the queue.
struct Entry {
  std::vector<int32_t> places;  ///< of left symbols, ascending
  int32_t next = kNone;         ///< another entry of the same pair
};

struct Queued {
  int64_t count = 0;
  uint64_t key = 0;
  int32_t entry = kNone;
  friend bool operator<(const Queued& a, const Queued& b) {
    if (a.count != b.count) return a.count < b.count;
    return a.key != b.key ? a.key > b.key : a.entry > b.entry;
  }
};

template <class Take>
void for_each_character(std::string_view word, Take&& take) {
  for (size_t pos = 0; pos < word.size();) {
    const CodePoint point = decode_utf8(word.substr(pos));
    take(point.value, pos == 0);
    pos += static_cast<size_t>(point.n_bytes);
  }
}

std::string to_utf8(char32_t code) {
  std::string out;
  append_utf8(out, code);
  return out;
}

class BpeTrainer {
 public:
  BpeTrainer(const WordCounts& words, const BpeTrainerOptions& options, const TrainingProgress& progress)
      : words_(words), options_(options), progress_(progress) {}

  Result<TrainedBpe> train() {
    for (const std::string& token : options_.special_tokens) add_piece(token);
    VITRO_TRY(add_alphabet());
    add_continuing_alphabet();
    VITRO_TRY(read_words());
    queue_first_pairs();
    while (pieces_.size() < options_.vocab_size && merge_best()) {
      progress_("merging", static_cast<int64_t>(pieces_.size()), static_cast<int64_t>(options_.vocab_size));
    }
    return TrainedBpe{std::move(pieces_), last_merges()};
  }

 private:
  struct Merge {
    TokenId left;
    TokenId right;
  };
  /// Ids of a character at the start of a word and elsewhere.
  struct CharacterIds {
    TokenId first = kNone;
    TokenId continuing = kNone;
  };

  TokenId add_piece(const std::string& piece) {
    const auto [found, is_new] = ids_.emplace(piece, static_cast<TokenId>(pieces_.size()));
    if (is_new) {
      pieces_.push_back(piece);
      lengths_.push_back(1);
    }
    return found->second;
  }

  Status add_alphabet() {
    std::map<char32_t, uint64_t> counts;
    for (size_t i = 0; i < words_.size(); ++i) {
      for_each_character(words_.word(i), [&](char32_t c, bool) { counts[c] += words_.count(i); });
    }
    for (const char32_t c : options_.initial_alphabet) counts[c] = std::numeric_limits<uint64_t>::max();
    std::vector<std::pair<char32_t, uint64_t>> kept(counts.begin(), counts.end());
    const size_t limit = options_.limit_alphabet.value_or(kept.size());
    if (limit < options_.initial_alphabet.size()) {
      return fail(ErrorCode::kInvalidArgument, "an alphabet of {} is smaller than the {} characters it starts with",
                  limit, options_.initial_alphabet.size());
    }
    if (limit < kept.size()) {
      std::stable_sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
      kept.resize(limit);
      std::sort(kept.begin(), kept.end());
    }
    for (const auto& [code, count] : kept) characters_[code].first = add_piece(to_utf8(code));
    return {};
  }

  /// The reference numbers these as its hash table gives the words, differently in each run; here by code point.
  void add_continuing_alphabet() {
    if (options_.continuing_prefix.empty()) {
      for (auto& [code, ids] : characters_) ids.continuing = ids.first;
      return;
    }
    std::map<char32_t, CharacterIds*> inside;
    for (size_t i = 0; i < words_.size(); ++i) {
      for_each_character(words_.word(i), [&](char32_t c, bool is_first) {
        const auto found = characters_.find(c);
        if (!is_first && found != characters_.end()) inside[c] = &found->second;
      });
    }
    for (const auto& [code, ids] : inside) ids->continuing = add_piece(options_.continuing_prefix + to_utf8(code));
  }

  Status read_words() {
    for (size_t i = 0; i < words_.size(); ++i) {
      int32_t previous = kNone;
      if (symbols_.size() + words_.word(i).size() > kMaxSymbols) {
        return fail(ErrorCode::kUnsupported, "more than {} characters in distinct words; a part of the text will do",
                    kMaxSymbols);
      }
      for_each_character(words_.word(i), [&](char32_t c, bool is_first) {
        const auto found = characters_.find(c);
        if (found == characters_.end()) return;
        const auto place = static_cast<int32_t>(symbols_.size());
        if (previous != kNone) symbols_[static_cast<size_t>(previous)].next = place;
        const TokenId id = is_first ? found->second.first : found->second.continuing;
        symbols_.push_back({id, previous, kNone, static_cast<uint32_t>(i)});
        previous = place;
      });
    }
    return {};
  }

  Symbol& at(int32_t place) { return symbols_[static_cast<size_t>(place)]; }
  int64_t count_at(int32_t place) { return static_cast<int64_t>(words_.count(at(place).word)); }

  /// A pair has come to be at a place.
  void add_pair(TokenId left, TokenId right, int32_t place) {
    PairTable::Pair& pair = pairs_.get(pair_key(left, right));
    pair.count += count_at(place);
    if (pair.fresh == kNone) {
      pair.fresh = static_cast<int32_t>(entries_.size());
      entries_.emplace_back();
      fresh_.push_back(pair.key);
    }
    std::vector<int32_t>& places = entries_[static_cast<size_t>(pair.fresh)].places;
    if (places.empty() || places.back() != place) places.push_back(place);
  }
  void remove_pair(TokenId left, TokenId right, int32_t place) {
    pairs_.get(pair_key(left, right)).count -= count_at(place);
  }

  /// Entries that were filled go to the queue.
  void queue_fresh_pairs() {
    for (const uint64_t key : fresh_) {
      PairTable::Pair& pair = pairs_.get(key);
      const int32_t entry = std::exchange(pair.fresh, kNone);
      if (pair.count <= 0) {
        entries_[static_cast<size_t>(entry)] = {};
        continue;
      }
      entries_[static_cast<size_t>(entry)].next = std::exchange(pair.waiting, entry);
      queue_.push({pair.count, key, entry});
    }
    fresh_.clear();
  }

  void queue_first_pairs() {
    for (size_t i = 0; i < symbols_.size(); ++i) {
      if (symbols_[i].next != kNone) add_pair(symbols_[i].id, at(symbols_[i].next).id, static_cast<int32_t>(i));
    }
    queue_fresh_pairs();
  }

  /// Takes the entry out of the queue's books, with the places of the pair's other entries that are in its words.
  std::vector<int32_t> take_places(PairTable::Pair& pair, int32_t entry) {
    int32_t* link = &pair.waiting;
    while (*link != entry) link = &entries_[static_cast<size_t>(*link)].next;
    Entry taken = std::exchange(entries_[static_cast<size_t>(entry)], {});
    *link = taken.next;
    if (pair.waiting == kNone) return std::move(taken.places);
    std::vector<uint32_t> words;
    for (const int32_t place : taken.places) words.push_back(at(place).word);
    const size_t n_own = taken.places.size();
    for (int32_t other = pair.waiting; other != kNone; other = entries_[static_cast<size_t>(other)].next) {
      std::vector<int32_t>& places = entries_[static_cast<size_t>(other)].places;
      const auto moved = std::stable_partition(places.begin(), places.end(), [&](int32_t place) {
        return !std::binary_search(words.begin(), words.end(), at(place).word);
      });
      taken.places.insert(taken.places.end(), moved, places.end());
      places.erase(moved, places.end());
    }
    if (taken.places.size() > n_own) std::sort(taken.places.begin(), taken.places.end());
    return std::move(taken.places);
  }

  /// One step of the queue. False: nothing is left that may be merged.
  bool merge_best() {
    if (queue_.empty()) return false;
    Queued best = queue_.top();
    queue_.pop();
    PairTable::Pair& pair = pairs_.get(best.key);
    if (best.count != pair.count) {  // counted before other merges changed it
      best.count = pair.count;
      queue_.push(best);
      return true;
    }
    if (best.count < 1 || static_cast<uint64_t>(best.count) < options_.min_frequency) return false;
    const auto left = static_cast<TokenId>(best.key >> 32);
    const auto right = static_cast<TokenId>(best.key & 0xFFFFFFFFu);
    pair.rank = static_cast<int64_t>(merges_.size());
    merges_.push_back({left, right});
    const std::vector<int32_t> places = take_places(pair, best.entry);
    const TokenId joined = join_pieces(left, right);
    for (const int32_t place : places) merge_at(place, left, right, joined);
    queue_fresh_pairs();
    return true;
  }

  TokenId join_pieces(TokenId left, TokenId right) {
    std::string_view tail = pieces_[static_cast<size_t>(right)];
    if (tail.starts_with(options_.continuing_prefix)) tail.remove_prefix(options_.continuing_prefix.size());
    const TokenId joined = add_piece(pieces_[static_cast<size_t>(left)] + std::string(tail));
    lengths_[static_cast<size_t>(joined)] = lengths_[static_cast<size_t>(left)] + lengths_[static_cast<size_t>(right)];
    return joined;
  }

  bool may_join(TokenId left, TokenId right) const {
    return lengths_[static_cast<size_t>(left)] + lengths_[static_cast<size_t>(right)] < options_.max_token_length;
  }

  void merge_at(int32_t place, TokenId left, TokenId right, TokenId joined) {
    Symbol& first = at(place);
    if (first.id != left || first.next == kNone || at(first.next).id != right) return;  // gone by now
    Symbol& second = at(first.next);
    if (first.previous != kNone) {
      const TokenId before = at(first.previous).id;
      remove_pair(before, left, place);
      if (may_join(before, joined)) add_pair(before, joined, first.previous);
    }
    first.id = joined;
    first.next = second.next;
    second.id = kNone;
    if (first.next == kNone) return;
    at(first.next).previous = place;
    const TokenId after = at(first.next).id;
    remove_pair(right, after, place);
    if (may_join(joined, after)) add_pair(joined, after, place);
  }

  /// Each merged pair once, where it was merged last.
  std::vector<std::pair<TokenId, TokenId>> last_merges() {
    std::vector<std::pair<TokenId, TokenId>> out;
    for (size_t i = 0; i < merges_.size(); ++i) {
      const Merge& merge = merges_[i];
      if (pairs_.get(pair_key(merge.left, merge.right)).rank == static_cast<int64_t>(i))
        out.emplace_back(merge.left, merge.right);
    }
    return out;
  }

  const WordCounts& words_;
  const BpeTrainerOptions& options_;
  const TrainingProgress& progress_;
  std::vector<std::string> pieces_;
  std::vector<size_t> lengths_;  ///< in characters, by id
  std::unordered_map<std::string, TokenId> ids_;
  std::unordered_map<char32_t, CharacterIds> characters_;
  std::vector<Symbol> symbols_;
  PairTable pairs_;
  std::vector<Entry> entries_;
  std::vector<uint64_t> fresh_;  ///< pairs with an entry that is being filled
  std::priority_queue<Queued> queue_;
  std::vector<Merge> merges_;
};

}  // namespace

Result<TrainedBpe> train_bpe(const WordCounts& words, const BpeTrainerOptions& options,
                             const TrainingProgress& progress) {
  return BpeTrainer(words, options, progress).train();
}

}  // namespace vitro
