// Viterbi over positions: a trie tells the pieces that begin at each character, every position keeps its best way.
// Positions are taken from left to right and a later way wins only if it is better, as in both references.
#include "tokens/unigram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "text/utf8.h"

namespace vitro {
namespace {

constexpr double kUnknownPenalty = 10;     // below the lowest score (both references)
constexpr double kUserDefinedBonus = 0.1;  // SentencePiece, for each byte after the first
constexpr double kFarSum = 100000;         // SentencePiece starts sums anew beyond it

double as_float(double value) { return static_cast<double>(static_cast<float>(value)); }

}  // namespace

Unigram::Unigram(const Vocabulary& vocabulary, UnigramSpec spec) : vocabulary_(&vocabulary), spec_(std::move(spec)) {}

Result<std::unique_ptr<Unigram>> Unigram::make(const Vocabulary& vocabulary, UnigramSpec spec) {
  std::unique_ptr<Unigram> out(new Unigram(vocabulary, std::move(spec)));
  VITRO_TRY(out->read_scores());
  VITRO_TRY(out->build_trie());
  return out;
}

Status Unigram::read_scores() {
  if (spec_.scores.size() > vocabulary_->size()) {
    return fail(ErrorCode::kCorrupt, "{} scores for {} pieces", spec_.scores.size(), vocabulary_->size());
  }
  if (spec_.unknown_id >= static_cast<int64_t>(spec_.scores.size())) {
    return fail(ErrorCode::kCorrupt, "the unknown token has the id {}, there are {} pieces", spec_.unknown_id,
                spec_.scores.size());
  }
  const bool is_sentencepiece = spec_.rules == UnigramRules::kSentencePiece;
  double lowest = is_sentencepiece ? std::numeric_limits<float>::max() : std::numeric_limits<double>::infinity();
  for (TokenId id = 0; id < static_cast<TokenId>(spec_.scores.size()); ++id) {
    const double score = spec_.scores[static_cast<size_t>(id)];
    if (!std::isfinite(score)) return fail(ErrorCode::kCorrupt, "the score of piece {} is no finite number", id);
    if (is_sentencepiece && vocabulary_->kind(id) != TokenKind::kNormal) continue;
    lowest = std::min(lowest, score);
  }
  unknown_score_ = lowest - kUnknownPenalty;
  if (is_sentencepiece) unknown_score_ = as_float(unknown_score_);
  return {};
}

bool Unigram::is_met_in_text(TokenId id) const {
  if (spec_.rules == UnigramRules::kTokenizers) return true;
  const TokenKind kind = vocabulary_->kind(id);
  return kind == TokenKind::kNormal || kind == TokenKind::kUserDefined;
}

Status Unigram::build_trie() {
  byte_ids_.fill(-1);
  std::vector<PieceTrie::Entry> entries;
  entries.reserve(spec_.scores.size());
  for (TokenId id = 0; id < static_cast<TokenId>(spec_.scores.size()); ++id) {
    const std::string_view piece = vocabulary_->piece(id);
    const bool may_be_byte = spec_.rules == UnigramRules::kTokenizers || vocabulary_->kind(id) == TokenKind::kByte;
    const int byte = may_be_byte && spec_.has_byte_fallback ? byte_token_value(piece) : -1;
    if (byte >= 0) byte_ids_[static_cast<size_t>(byte)] = id;
    if (is_met_in_text(id) && is_valid_utf8(piece)) entries.push_back({piece, id});
  }
  VITRO_TRY_ASSIGN(trie_, PieceTrie::make(std::move(entries)));
  return {};
}

double Unigram::score_of(TokenId id, size_t length) const {
  if (spec_.rules == UnigramRules::kSentencePiece && vocabulary_->kind(id) == TokenKind::kUserDefined) {
    return as_float(kUserDefinedBonus * static_cast<double>(length - 1));
  }
  return spec_.scores[static_cast<size_t>(id)];
}

/// Calls visit(edge) for each piece that begins at `begin`, shortest first, then for the unknown character if no piece
/// is just the character.
template <class Visit>
void Unigram::for_each_edge(std::string_view word, size_t begin, Visit&& visit) const {
  const auto n_bytes = static_cast<size_t>(decode_utf8(word.substr(begin)).n_bytes);
  const auto first = static_cast<uint32_t>(begin);
  bool has_character = false;
  PieceTrie::Node node = PieceTrie::kRoot;
  for (size_t pos = begin; pos < word.size();) {
    node = trie_.step(node, static_cast<uint8_t>(word[pos++]));
    if (node == PieceTrie::kRoot) break;
    const TokenId id = trie_.id(node);
    if (id < 0) continue;
    has_character = has_character || pos - begin == n_bytes;
    visit(Edge{first, static_cast<uint32_t>(pos), id, score_of(id, pos - begin)});
  }
  if (!has_character) visit(Edge{first, static_cast<uint32_t>(begin + n_bytes), -1, unknown_score_});
}

std::vector<Unigram::Edge> Unigram::edges_of(std::string_view word, size_t limit) const {
  std::vector<Edge> out;
  for (size_t begin = 0; begin < word.size() && out.size() <= limit;) {
    for_each_edge(word, begin, [&](const Edge& edge) { out.push_back(edge); });
    begin += static_cast<size_t>(decode_utf8(word.substr(begin)).n_bytes);
  }
  return out;
}

/// SentencePiece (0.2.3) adds in float32.
void Unigram::offer(Best& target, const Edge& edge, double before) const {
  double score = edge.score + before;
  if (spec_.rules == UnigramRules::kSentencePiece) score = as_float(score);
  if (target.id != kNotReached && !(score > target.score)) return;
  target = {score, edge.begin, edge.id};
}

/// So that a long text does not lose the scores of pieces to rounding, the sums from `begin` to `last`, the furthest
/// place that was reached, are counted from the one at `begin`.
void Unigram::start_sums_anew(std::span<Best> best, size_t begin, size_t last) {
  const double offset = best[begin].score;
  for (size_t i = begin; i <= last; ++i) {
    if (i == begin || best[i].id != kNotReached) best[i].score = as_float(best[i].score - offset);
  }
}

/// False if an unknown character would be needed and there is no unknown token.
bool Unigram::find_best(std::string_view word, std::vector<Best>& best) const {
  best.assign(word.size() + 1, Best{});
  bool is_possible = true;
  size_t last = 0;
  for (size_t begin = 0; begin < word.size();) {
    if (spec_.rules == UnigramRules::kSentencePiece && std::abs(best[begin].score) > kFarSum) {
      start_sums_anew(best, begin, last);
    }
    const double before = best[begin].score;
    for_each_edge(word, begin, [&](const Edge& edge) {
      offer(best[edge.end], edge, before);
      last = std::max<size_t>(last, edge.end);
      const bool is_taken = best[edge.end].begin == begin && best[edge.end].id == edge.id;
      if (edge.id < 0 && is_taken && spec_.unknown_id < 0) is_possible = false;
    });
    begin += static_cast<size_t>(decode_utf8(word.substr(begin)).n_bytes);
  }
  return is_possible;
}

void Unigram::encode(std::string_view text, std::span<const ByteRange> words, std::vector<TextToken>& out) const {
  Scratch scratch;
  for (const ByteRange& word : words) encode_word(text, word, scratch, out);
}

void Unigram::encode_word(std::string_view text, ByteRange word, Scratch& scratch, std::vector<TextToken>& out) const {
  const std::string_view bytes = text.substr(word.begin, word.size());
  if (!find_best(bytes, scratch.best)) {
    out.push_back({-1, word});
    return;
  }
  scratch.path.clear();
  for (auto end = static_cast<uint32_t>(bytes.size()); end > 0; end = scratch.best[end].begin) {
    scratch.path.push_back({scratch.best[end].begin, end, scratch.best[end].id, 0});
  }
  std::reverse(scratch.path.begin(), scratch.path.end());
  add_tokens(bytes, scratch.path, word.begin, out);
}

/// A way of edges becomes tokens, their ranges moved by `offset`.
void Unigram::add_tokens(std::string_view word, std::span<const Edge> path, size_t offset,
                         std::vector<TextToken>& out) const {
  const auto is_unknown = [&](const Edge& edge) { return edge.id < 0 || edge.id == spec_.unknown_id; };
  for (size_t i = 0; i < path.size();) {
    const size_t first = i++;
    if (!is_unknown(path[first])) {
      out.push_back({path[first].id, {path[first].begin + offset, path[first].end + offset}});
      continue;
    }
    while (i < path.size() && is_unknown(path[i])) ++i;
    add_unknown(word, {path[first].begin, path[i - 1].end}, offset, out);
  }
}

void Unigram::add_unknown(std::string_view word, ByteRange run, size_t offset, std::vector<TextToken>& out) const {
  const std::string_view bytes = word.substr(run.begin, run.size());
  const ByteRange range{run.begin + offset, run.end + offset};
  const bool is_tokenizers = spec_.rules == UnigramRules::kTokenizers;
  const TokenId whole = is_tokenizers ? trie_.find(bytes) : -1;
  const auto byte_id = [&](char c) { return byte_ids_[static_cast<uint8_t>(c)]; };
  const bool has_bytes =
      spec_.has_byte_fallback && std::all_of(bytes.begin(), bytes.end(), [&](char c) { return byte_id(c) >= 0; });
  if (whole >= 0 || !has_bytes) {
    out.push_back({whole >= 0 ? whole : spec_.unknown_id, range});
    return;
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    out.push_back({byte_id(bytes[i]), is_tokenizers ? range : ByteRange{range.begin + i, range.begin + i + 1}});
  }
}

}  // namespace vitro
