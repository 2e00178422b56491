#include "tokens/train/unigram_trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "text/utf8.h"
#include "tokens/train/character_trie.h"
#include "tokens/train/seed_pieces.h"

namespace vitro {
namespace {

constexpr size_t kMaxWordLength = size_t{1} << 16;
constexpr size_t kMaxRowLength = std::numeric_limits<int32_t>::max();
constexpr double kUnknownPenalty = 10;     // an unknown character is worth this much less than the rarest piece
constexpr double kLeastExpectation = 0.5;  // pieces that are expected less often leave
constexpr double kMissingStep = 1e-4;      // between the scores of characters that have lost their pieces
constexpr int32_t kUnknown = 0;            // the id of the unknown piece while training

/// log(e^x + e^y)
double log_add(double x, double y) {
  const double low = std::min(x, y);
  const double high = std::max(x, y);
  return high > low + 50 ? high : high + std::log(std::exp(low - high) + 1);
}

/// d/dx log Gamma(x), for x > 0: the recurrence up to 7, then the asymptotic series around x - 1/2.
double digamma(double x) {
  double shift = 0;
  for (; x < 7; x += 1) shift -= 1 / x;
  x -= 0.5;
  const double r = 1 / x;
  const double r2 = r * r;
  const double r4 = r2 * r2;
  return shift +
         (std::log(x) + (1.0 / 24) * r2 - (7.0 / 960) * r4 + (31.0 / 8064) * r4 * r2 - (127.0 / 30720) * r4 * r4);
}

/// The pieces that a word could be made of: all that occur in it, and the unknown one for characters without a piece.
class Lattice {
 public:
  struct Node {
    uint32_t begin;
    uint32_t end;
    int32_t id;
    double score;
  };

  /// Nodes by begin, then by length.
  void fill(std::u32string_view word, const CharacterTrie& trie, const std::vector<double>& scores,
            double unknown_score) {
    nodes_.clear();
    length_ = word.size();
    for (size_t begin = 0; begin < word.size(); ++begin) {
      bool has_character = false;
      const auto from = static_cast<uint32_t>(begin);
      trie.for_each_prefix(word.substr(begin), [&](size_t length, int32_t id) {
        has_character |= length == 1;
        nodes_.push_back({from, from + static_cast<uint32_t>(length), id, scores[static_cast<size_t>(id)]});
      });
      if (!has_character) nodes_.push_back({from, from + 1, kUnknown, unknown_score});
    }
  }

  /// Adds weight * P(node | word) to the expectations; log P(word).
  double add_expectations(double weight, std::vector<double>& expected) {
    reset(forward_);
    for (const Node& node : nodes_) join(forward_, node.end, node.score + forward_[node.begin]);
    backward_.assign(length_ + 1, 0);
    is_set_.assign(length_ + 1, 0);
    is_set_[length_] = 1;
    sum_backward();
    const double total = forward_[length_];
    for (const Node& node : nodes_) {
      const double log_share = forward_[node.begin] + node.score + backward_[node.end] - total;
      expected[static_cast<size_t>(node.id)] += weight * std::exp(log_share);
    }
    return total;
  }

  /// The likeliest segmentation, or the likeliest but the whole word as one piece; empty: there is none.
  std::vector<int32_t> best_path(bool without_whole, double& score) {
    reset(forward_);
    best_.assign(length_ + 1, -1);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      if (is_set_[node.begin] == 0 || (without_whole && node.end - node.begin == length_)) continue;
      const double candidate = forward_[node.begin] + node.score;
      if (is_set_[node.end] != 0 && candidate <= forward_[node.end]) continue;
      forward_[node.end] = candidate;
      is_set_[node.end] = 1;
      best_[node.end] = static_cast<int32_t>(i);
    }
    score = forward_[length_];
    return walk_back();
  }

  /// The score of the whole word as one piece, if it is one.
  const Node* whole() const {
    for (const Node& node : nodes_) {
      if (node.begin > 0) break;
      if (node.end == length_) return &node;
    }
    return nullptr;
  }

 private:
  void reset(std::vector<double>& sums) {
    sums.assign(length_ + 1, 0);
    is_set_.assign(length_ + 1, 0);
    is_set_[0] = 1;
  }
  void join(std::vector<double>& sums, size_t pos, double value) {
    sums[pos] = is_set_[pos] != 0 ? log_add(sums[pos], value) : value;
    is_set_[pos] = 1;
  }
  /// From the last place to the first; the nodes of one place in their order, because that is the order of the sums.
  void sum_backward() {
    for (size_t end = nodes_.size(); end > 0;) {
      size_t begin = end;
      while (begin > 0 && nodes_[begin - 1].begin == nodes_[end - 1].begin) --begin;
      for (size_t i = begin; i < end; ++i) join(backward_, nodes_[i].begin, nodes_[i].score + backward_[nodes_[i].end]);
      end = begin;
    }
  }
  std::vector<int32_t> walk_back() const {
    std::vector<int32_t> out;
    for (size_t pos = length_; pos > 0;) {
      if (best_[pos] < 0) return {};
      const Node& node = nodes_[static_cast<size_t>(best_[pos])];
      out.push_back(node.id);
      pos = node.begin;
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

  size_t length_ = 0;
  std::vector<Node> nodes_;
  std::vector<double> forward_;
  std::vector<double> backward_;
  std::vector<uint8_t> is_set_;
  std::vector<int32_t> best_;
};

/// Bytes of the first n characters of a text.
size_t bytes_of_characters(std::string_view text, size_t n) {
  size_t pos = 0;
  for (; n > 0 && pos < text.size(); --n) pos += static_cast<size_t>(decode_utf8(text.substr(pos)).n_bytes);
  return pos;
}

/// The same words, but none of more than kMaxWordLength characters.
Result<WordCounts> cut_words(const WordCounts& words) {
  WordCounts out;
  for (size_t i = 0; i < words.size(); ++i) {
    for (std::string_view rest = words.word(i); !rest.empty();) {
      const size_t n_bytes = bytes_of_characters(rest, kMaxWordLength);
      VITRO_TRY(out.add(rest.substr(0, n_bytes), words.count(i)));
      rest.remove_prefix(n_bytes);
    }
  }
  return out;
}

Result<CharacterRow> make_row(const WordCounts& given) {
  VITRO_TRY_ASSIGN(const WordCounts words, cut_words(given));
  CharacterRow row;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words.word(i);
    if (row.characters.size() + word.size() >= kMaxRowLength) {
      return fail(ErrorCode::kUnsupported, "more than {} characters in distinct words; a part of the text will do",
                  kMaxRowLength);
    }
    row.begins.push_back(static_cast<uint32_t>(row.characters.size()));
    row.counts.push_back(static_cast<double>(words.count(i)));
    for (size_t pos = 0; pos < word.size();) {
      const CodePoint point = decode_utf8(word.substr(pos));
      row.characters.push_back(point.value);
      pos += static_cast<size_t>(point.n_bytes);
    }
    row.characters.push_back(kWordEnd);
  }
  return row;
}

class UnigramTrainer {
 public:
  UnigramTrainer(const CharacterRow& row, const UnigramTrainerOptions& options, const TrainingProgress& progress)
      : row_(row), options_(options), progress_(progress) {}

  Result<TrainedUnigram> train() {
    for (size_t w = 0; w < row_.begins.size(); ++w) {
      for (const char32_t c : row_.word(w)) required_.insert(c);
    }
    VITRO_TRY(check_size());
    take_seeds();
    const size_t n_wanted = options_.vocab_size * 11 / 10;
    const size_t n_first = pieces_.size();
    while (true) {
      for (int i = 0; i < options_.n_sub_iterations; ++i) maximize(expect());
      if (pieces_.size() <= n_wanted) break;
      const size_t n_before = pieces_.size();
      prune(n_wanted);
      if (pieces_.size() == n_before) break;  // nothing can be spared
      progress_("pruning", static_cast<int64_t>(n_first - pieces_.size()), static_cast<int64_t>(n_first - n_wanted));
    }
    return finish();
  }

 private:
  std::u32string_view text_of(size_t id) const {
    return std::u32string_view(row_.characters.data() + pieces_[id].begin, pieces_[id].length);
  }

  size_t n_special() const {
    const auto& tokens = options_.special_tokens;
    const bool has_unknown = std::find(tokens.begin(), tokens.end(), options_.unknown) != tokens.end();
    return tokens.size() + (has_unknown ? 0 : 1);
  }

  Status check_size() const {
    const size_t n_least = required_.size() + n_special();
    if (options_.vocab_size >= n_least) return {};
    return fail(ErrorCode::kInvalidArgument,
                "a vocabulary of {} is too small: the text has {} different characters, and there are {} special "
                "tokens; at least {} are needed",
                options_.vocab_size, required_.size(), n_special(), n_least);
  }

  void take_seeds() {
    progress_("finding seeds", 0, 1);
    pieces_ = {SeedPiece{}};  // the unknown piece
    for (const SeedPiece& seed : make_seed_pieces(row_, options_.max_piece_length, options_.n_seeds)) {
      pieces_.push_back(seed);
    }
    double sum = 0;
    for (size_t i = 1; i < pieces_.size(); ++i) sum += pieces_[i].score;
    scores_.assign(pieces_.size(), 0);
    for (size_t i = 1; i < pieces_.size(); ++i) scores_[i] = std::log(pieces_[i].score) - std::log(sum);
    index_pieces();
  }

  /// After pieces_ or scores_ have changed.
  void index_pieces() {
    trie_.clear();
    least_score_ = pieces_.size() > 1 ? std::numeric_limits<double>::infinity() : 0;
    for (size_t i = 1; i < pieces_.size(); ++i) {
      trie_.add(text_of(i), static_cast<int32_t>(i));
      least_score_ = std::min(least_score_, scores_[i]);
    }
  }

  void fill_lattice(std::u32string_view word) { lattice_.fill(word, trie_, scores_, least_score_ - kUnknownPenalty); }

  std::vector<double> expect() {
    std::vector<double> expected(pieces_.size(), 0);
    double sum = 0;
    double n_words = 0;
    for (size_t w = 0; w < row_.begins.size(); ++w) {
      fill_lattice(row_.word(w));
      sum -= row_.counts[w] * lattice_.add_expectations(row_.counts[w], expected);
      n_words += row_.counts[w];
    }
    loss_ = n_words > 0 ? sum / n_words : 0;
    return expected;
  }

  void maximize(const std::vector<double>& expected) {
    std::vector<SeedPiece> kept = {SeedPiece{}};
    std::vector<double> counts = {0};
    double sum = 0;
    for (size_t i = 1; i < pieces_.size(); ++i) {
      if (expected[i] < kLeastExpectation) continue;
      kept.push_back(pieces_[i]);
      counts.push_back(expected[i]);
      sum += expected[i];
    }
    for (size_t i = 1; i < counts.size(); ++i) counts[i] = digamma(counts[i]) - digamma(sum);
    pieces_ = std::move(kept);
    scores_ = std::move(counts);
    index_pieces();
  }

  /// What takes the place of a piece that is left out.
  struct Alternative {
    bool is_best = false;  ///< the piece is its own best segmentation
    std::vector<int32_t> ids;
  };
  Alternative alternative_of(size_t id) {
    fill_lattice(text_of(id));
    double other_score = 0;
    std::vector<int32_t> other = lattice_.best_path(true, other_score);
    if (other.empty()) return {true, {}};
    if (lattice_.whole()->score < other_score) return {false, {}};
    return {true, std::move(other)};
  }

  /// How often each piece is used in the best segmentations of the text.
  std::vector<double> count_best() {
    std::vector<double> out(pieces_.size(), 0);
    double ignored = 0;
    for (size_t w = 0; w < row_.begins.size(); ++w) {
      fill_lattice(row_.word(w));
      for (const int32_t id : lattice_.best_path(false, ignored)) out[static_cast<size_t>(id)] += row_.counts[w];
    }
    return out;
  }

  /// Kudo 2018, 3.2: the loss of leaving out a piece, if its uses go to its alternative. `sum` of all counts. The new
  /// sum ought to be sum + count * (length of the alternative - 1), as in SentencePiece; the reference multiplies with
  /// the number of all pieces instead, and the order of the losses, thus the vocabulary, depends on it.
  static double loss_without(double count, const std::vector<double>& counts, double sum, double n_words,
                             const std::vector<int32_t>& alternative) {
    const double log_p = std::log(count) - std::log(sum);
    const double log_new_sum = std::log(sum + count * static_cast<double>(counts.size() - 1));
    double log_p_alternative = 0;
    for (const int32_t id : alternative)
      log_p_alternative += std::log(counts[static_cast<size_t>(id)] + count) - log_new_sum;
    return count / n_words * (log_p - log_p_alternative);
  }

  void prune(size_t n_wanted) {
    struct Candidate {
      size_t id;
      double loss;
    };
    const std::vector<double> counts = count_best();
    double sum = 0;
    for (const double count : counts) sum += count;
    double n_words = 0;
    for (const double count : row_.counts) n_words += count;
    std::vector<size_t> kept = {0};
    std::vector<Candidate> candidates;
    for (size_t id = 1; id < pieces_.size(); ++id) {
      const Alternative alternative = alternative_of(id);
      if (counts[id] == 0 && !alternative.is_best) continue;
      if (alternative.ids.empty()) {
        kept.push_back(id);
      } else if (counts[id] > 0) {
        candidates.push_back({id, loss_without(counts[id], counts, sum, n_words, alternative.ids)});
      }
    }
    const auto n_left = static_cast<size_t>(static_cast<double>(pieces_.size()) * options_.shrinking_factor);
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.loss > b.loss; });
    for (const Candidate& candidate : candidates) {
      if (kept.size() == std::max(n_wanted, n_left)) break;
      kept.push_back(candidate.id);
    }
    keep(kept);
  }

  void keep(const std::vector<size_t>& ids) {
    std::vector<SeedPiece> pieces;
    std::vector<double> scores;
    for (const size_t id : ids) {
      pieces.push_back(pieces_[id]);
      scores.push_back(scores_[id]);
    }
    pieces_ = std::move(pieces);
    scores_ = std::move(scores);
    index_pieces();
  }

  static std::string to_utf8(std::u32string_view text) {
    std::string out;
    for (const char32_t c : text) append_utf8(out, c);
    return out;
  }

  /// Every character of the text, then the best pieces, until there are enough.
  std::vector<ScoredPiece> final_pieces() const {
    std::unordered_map<std::string, double> scores;
    for (size_t i = 1; i < pieces_.size(); ++i) scores.emplace(to_utf8(text_of(i)), scores_[i]);
    std::vector<ScoredPiece> out;
    std::unordered_set<std::string> taken(options_.special_tokens.begin(), options_.special_tokens.end());
    taken.insert(options_.unknown);
    double penalty = 0;
    for (const char32_t c : required_) {
      std::string text = to_utf8(std::u32string_view(&c, 1));
      const auto found = scores.find(text);
      if (!taken.insert(text).second) continue;
      out.push_back({std::move(text), found != scores.end() ? found->second : least_score_ + penalty});
      if (found == scores.end()) penalty += kMissingStep;
    }
    const size_t n_wanted = options_.vocab_size - n_special();
    for (size_t i = 1; i < pieces_.size() && out.size() < n_wanted; ++i) {
      std::string text = to_utf8(text_of(i));
      if (taken.insert(text).second) out.push_back({std::move(text), scores_[i]});
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const ScoredPiece& a, const ScoredPiece& b) { return a.score > b.score; });
    return out;
  }

  TrainedUnigram finish() const {
    TrainedUnigram out;
    const auto& tokens = options_.special_tokens;
    const auto unknown = std::find(tokens.begin(), tokens.end(), options_.unknown);
    if (unknown == tokens.end()) {
      out.pieces.push_back({options_.unknown, 0});
    } else {
      out.unknown_id = static_cast<TokenId>(unknown - tokens.begin());
    }
    for (const std::string& token : tokens) out.pieces.push_back({token, 0});
    for (ScoredPiece& piece : final_pieces()) out.pieces.push_back(std::move(piece));
    out.loss = loss_;
    return out;
  }

  const CharacterRow& row_;
  const UnigramTrainerOptions& options_;
  const TrainingProgress& progress_;
  std::set<char32_t> required_;
  std::vector<SeedPiece> pieces_;
  std::vector<double> scores_;  ///< log p, by id; that of the unknown piece is not used
  CharacterTrie trie_;
  double least_score_ = 0;
  Lattice lattice_;
  double loss_ = 0;
};

}  // namespace

Result<TrainedUnigram> train_unigram(const WordCounts& words, const UnigramTrainerOptions& options,
                                     const TrainingProgress& progress) {
  VITRO_TRY_ASSIGN(const CharacterRow row, make_row(words));
  return UnigramTrainer(row, options, progress).train();
}

}  // namespace vitro
