// The vocabulary while the rules run: logits by id, and once something has been dropped the list of ids that are left,
// always in ascending order of id, so that every sum has one order. Weights exp(logit - max) are made when a rule asks
// for them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/result.h"
#include "sample/ranking.h"
#include "sample/sampler.h"

namespace vitro {

/// -inf marks an id that cannot be drawn.
inline constexpr float kForbidden = -std::numeric_limits<float>::infinity();

/// Which buffers of a CandidateSet the rules use; each has room for the whole vocabulary.
struct CandidateRoom {
  bool logits = false;
  bool list = false;
  bool values = false;  ///< of kth_largest_logit
  bool counts = false;
  bool ranked = false;

  int64_t n_bytes(int64_t vocab_size) const;
};

class CandidateSet {
 public:
  /// Takes the room at once, so that no rule asks for memory.
  void reserve(const CandidateRoom& room, int64_t vocab_size);
  /// Bytes that the buffers hold.
  int64_t n_bytes() const;

  /// Starts anew: every id with a logit above -inf. InvalidArgument if one is NaN.
  Status reset(std::span<const float> logits);

  /// The logits, to be changed by id; weights are made anew afterwards.
  std::span<float> edit_logits();
  /// logit := logit / divisor for every candidate.
  void divide_logits(float divisor);
  float logit(int32_t id) const { return logits_[static_cast<size_t>(id)]; }

  /// Candidates by ascending id; `probability` holds the weight exp(logit - largest logit), not yet divided by mass().
  std::span<const Candidate> weighted();
  /// Sum of the weights of weighted(), in its order.
  double mass() const { return mass_; }

  /// Keeps the ids for which keep(candidate) holds, asked once each by ascending id. Before weighted() was asked for,
  /// candidates carry no weight (0).
  template <class Keep>
  void filter(Keep keep) {
    if (is_list_) {
      size_t n_kept = 0;
      for (const Candidate& c : list_) {
        if (keep(c)) list_[n_kept++] = c;
      }
      list_.resize(n_kept);
    } else {
      list_from_logits(keep);
    }
    sum_weights();
  }

  /// The k-th largest logit among the candidates, 1 <= k; -inf if there are fewer than k candidates.
  float kth_largest_logit(int64_t k);
  /// The id with the largest logit, the lowest on ties; -1 if there is none.
  int32_t best() const;

  /// Scratch for rules, kept for its capacity: counts [vocab_size] are all zero between rules.
  std::vector<int32_t> counts;
  std::vector<Ranked> ranked;

 private:
  template <class Keep>
  void list_from_logits(Keep keep) {
    list_.clear();
    for (size_t i = 0; i < logits_.size(); ++i) {
      const Candidate candidate{static_cast<int32_t>(i), 0.0};
      if (logits_[i] > kForbidden && keep(candidate)) list_.push_back(candidate);
    }
    is_list_ = true;
  }
  float largest_listed_logit() const;
  void sum_weights();
  void gather_largest(int64_t k);

  std::vector<float> logits_;    // by id
  std::vector<Candidate> list_;  // meaningful while is_list_
  std::vector<float> values_;    // scratch of kth_largest_logit
  double mass_ = 0;
  bool is_list_ = false;
  bool has_weights_ = false;
};

}  // namespace vitro
