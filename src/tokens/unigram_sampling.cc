// The n best ways by A* from the end of the word to its front (the best way to reach a position is an exact heuristic),
// and draws by summing the weights of all ways forwards and choosing backwards (forward filtering, backward sampling).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>

#include "base/rng.h"
#include "tokens/unigram.h"

namespace vitro {
namespace {

constexpr size_t kMaxEdges = size_t{1} << 22;       // 24 bytes each
constexpr size_t kMaxHypotheses = size_t{1} << 22;  // 32 bytes each

/// Index drawn with probability weights[i] / sum; `uniform` in [0, 1).
size_t draw(std::span<const double> weights, double uniform) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  double left = uniform * sum;
  for (size_t i = 0; i + 1 < weights.size(); ++i) {
    left -= weights[i];
    if (left < 0) return i;
  }
  return weights.size() - 1;
}

}  // namespace

/// The edges of a word, by where they end.
class Unigram::Lattice {
 public:
  Lattice(std::vector<Edge> edges, size_t n_bytes) : edges_(std::move(edges)), first_(n_bytes + 2) {
    std::stable_sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) { return a.end < b.end; });
    for (const Edge& edge : edges_) ++first_[edge.end + 1];
    for (size_t pos = 1; pos < first_.size(); ++pos) first_[pos] += first_[pos - 1];
  }

  uint32_t length() const { return static_cast<uint32_t>(first_.size() - 2); }
  const Edge& edge(size_t idx) const { return edges_[idx]; }
  size_t first_at(size_t end) const { return first_[end]; }
  std::span<const Edge> ending_at(size_t end) const {
    return std::span(edges_).subspan(first_[end], first_[end + 1] - first_[end]);
  }

  /// For every position the log of the sum (or only the largest) of exp(alpha * score) over the ways to reach it.
  std::vector<double> reach(double alpha, bool only_best) const {
    std::vector<double> out(first_.size() - 1, -std::numeric_limits<double>::infinity());
    out[0] = 0;
    for (size_t pos = 1; pos < out.size(); ++pos) {
      double best = out[pos];
      for (const Edge& edge : ending_at(pos)) best = std::max(best, out[edge.begin] + alpha * edge.score);
      double sum = 0;
      for (const Edge& edge : ending_at(pos)) sum += std::exp(out[edge.begin] + alpha * edge.score - best);
      if (sum > 0) out[pos] = only_best ? best : best + std::log(sum);
    }
    return out;
  }

 private:
  std::vector<Edge> edges_;
  std::vector<size_t> first_;  ///< by end position: where its edges begin
};

Result<Unigram::Lattice> Unigram::lattice_of(std::string_view word) const {
  std::vector<Best> best;
  if (word.size() > kMaxEdges)
    return fail(ErrorCode::kUnsupported, "{} bytes are too many for this search", word.size());
  if (!find_best(word, best)) {
    return fail(ErrorCode::kInvalidArgument, "a character has no piece in the vocabulary, and it has no unknown token");
  }
  std::vector<Edge> edges = edges_of(word, kMaxEdges);
  if (edges.size() > kMaxEdges) return fail(ErrorCode::kUnsupported, "over {} pieces fit into the text", kMaxEdges);
  return Lattice(std::move(edges), word.size());
}

Result<std::vector<UnigramPath>> Unigram::n_best(std::string_view word, size_t n) const {
  if (n < 1 || n > kMaxBest)
    return fail(ErrorCode::kInvalidArgument, "{} best ways, 1 to {} are possible", n, kMaxBest);
  VITRO_TRY_ASSIGN(const Lattice lattice, lattice_of(word));
  const std::vector<double> reach = lattice.reach(1, true);
  struct Hypothesis {  // a way from `begin` to the end of the word
    double total;      // with the best way to `begin`
    double done;
    uint32_t begin;
    uint32_t edge;
    uint32_t next;  // the hypothesis that it lengthened
  };
  std::vector<Hypothesis> all = {{reach.back(), 0, lattice.length(), 0, 0}};
  // Of equals the one that is further, then the newer: so that a way is finished before its twins are begun.
  const auto is_worse = [&](uint32_t a, uint32_t b) {
    if (all[a].total != all[b].total) return all[a].total < all[b].total;
    return all[a].begin != all[b].begin ? all[a].begin > all[b].begin : a < b;
  };
  std::priority_queue<uint32_t, std::vector<uint32_t>, decltype(is_worse)> queue(is_worse);
  queue.push(0);
  std::vector<UnigramPath> out;
  while (!queue.empty() && out.size() < n) {
    const uint32_t top = queue.top();
    queue.pop();
    if (all[top].begin == 0) {
      UnigramPath& path = out.emplace_back();
      path.score = all[top].done;
      std::vector<Edge> edges;
      for (uint32_t at = top; at != 0; at = all[at].next) edges.push_back(lattice.edge(all[at].edge));
      add_tokens(word, edges, 0, path.tokens);
      continue;
    }
    const size_t first = lattice.first_at(all[top].begin);
    const std::span<const Edge> edges = lattice.ending_at(all[top].begin);
    if (all.size() + edges.size() > kMaxHypotheses)
      return fail(ErrorCode::kUnsupported, "the search for the {} best ways grows beyond {} steps", n, kMaxHypotheses);
    for (size_t i = 0; i < edges.size(); ++i) {
      const double done = all[top].done + edges[i].score;
      all.push_back({reach[edges[i].begin] + done, done, edges[i].begin, static_cast<uint32_t>(first + i), top});
      queue.push(static_cast<uint32_t>(all.size() - 1));
    }
  }
  return out;
}

Result<std::vector<TextToken>> Unigram::sample(std::string_view word, const UnigramSampling& how) const {
  if (!std::isfinite(how.alpha)) return fail(ErrorCode::kInvalidArgument, "alpha must be a finite number");
  if (how.n_best == 0) return sample_among_all(word, how);
  VITRO_TRY_ASSIGN(std::vector<UnigramPath> paths, n_best(word, how.n_best));
  if (paths.empty()) return std::vector<TextToken>{};
  const auto least_negative = [&](double a, const UnigramPath& path) { return std::max(a, how.alpha * path.score); };
  const double best =
      std::accumulate(paths.begin(), paths.end(), -std::numeric_limits<double>::infinity(), least_negative);
  std::vector<double> weights;
  for (const UnigramPath& path : paths) weights.push_back(std::exp(how.alpha * path.score - best));
  return std::move(paths[draw(weights, uniform_at(how.seed, how.sequence, 0))].tokens);
}

Result<std::vector<TextToken>> Unigram::sample_among_all(std::string_view word, const UnigramSampling& how) const {
  VITRO_TRY_ASSIGN(const Lattice lattice, lattice_of(word));
  const std::vector<double> reach = lattice.reach(how.alpha, false);
  std::vector<Edge> path;
  std::vector<double> weights;
  for (uint32_t pos = lattice.length(); pos > 0; pos = path.back().begin) {
    const std::span<const Edge> edges = lattice.ending_at(pos);
    weights.clear();
    for (const Edge& edge : edges) weights.push_back(std::exp(reach[edge.begin] + how.alpha * edge.score - reach[pos]));
    path.push_back(edges[draw(weights, uniform_at(how.seed, how.sequence, path.size()))]);
  }
  std::reverse(path.begin(), path.end());
  std::vector<TextToken> out;
  add_tokens(word, path, 0, out);
  return out;
}

}  // namespace vitro
