// The candidates of one position: copying logits in, weights, the k-th largest, filtering. See candidates.h for the
// invariants: the list is always in ascending order of id, and weights are stale after any change of a logit.
#include "sample/candidates.h"

#include <algorithm>
#include <functional>

#include "base/held_bytes.h"
#include "sample/argmax.h"

namespace vitro {

int64_t CandidateRoom::n_bytes(int64_t vocab_size) const {
  const size_t entry = (logits ? sizeof(float) : 0) + (list ? sizeof(Candidate) : 0) + (values ? sizeof(float) : 0) +
                       (counts ? sizeof(int32_t) : 0) + (ranked ? sizeof(Ranked) : 0);
  return vocab_size * static_cast<int64_t>(entry);
}

void CandidateSet::reserve(const CandidateRoom& room, int64_t vocab_size) {
  const auto n = static_cast<size_t>(vocab_size);
  if (room.logits) logits_.reserve(n);
  if (room.list) list_.reserve(n);
  if (room.values) values_.reserve(n);
  if (room.counts) counts.reserve(n);
  if (room.ranked) ranked.reserve(n);
}

int64_t CandidateSet::n_bytes() const {
  return held_bytes(logits_) + held_bytes(list_) + held_bytes(values_) + held_bytes(counts) + held_bytes(ranked);
}

Status CandidateSet::reset(std::span<const float> logits) {
  logits_.assign(logits.begin(), logits.end());
  is_list_ = false;
  has_weights_ = false;
  const auto nan = std::find_if(logits_.begin(), logits_.end(), [](float x) { return x != x; });
  if (nan == logits_.end()) return {};
  return fail(ErrorCode::kInvalidArgument, "[sample] the logit of id {} is not a number; the model's output is broken",
              nan - logits_.begin());
}

std::span<float> CandidateSet::edit_logits() {
  has_weights_ = false;
  return logits_;
}

void CandidateSet::divide_logits(float divisor) {
  has_weights_ = false;
  if (is_list_) {
    for (const Candidate& c : list_) logits_[static_cast<size_t>(c.id)] /= divisor;
  } else {
    for (float& logit : logits_) logit /= divisor;
  }
}

float CandidateSet::largest_listed_logit() const {
  float largest = kForbidden;
  for (const Candidate& c : list_) largest = std::max(largest, logit(c.id));
  return largest;
}

std::span<const Candidate> CandidateSet::weighted() {
  if (has_weights_) return list_;
  // A rule may have forbidden ids (-inf) that are on the list already.
  filter([this](const Candidate& c) { return logit(c.id) > kForbidden; });
  const float largest = largest_listed_logit();
  for (Candidate& c : list_) {
    const float value = logit(c.id);
    // inf - inf is not a number: with +inf among the logits those share the whole mass.
    c.probability = value == largest ? 1.0 : std::exp(static_cast<double>(value) - static_cast<double>(largest));
  }
  has_weights_ = true;
  sum_weights();
  return list_;
}

void CandidateSet::sum_weights() {
  if (!has_weights_) return;
  mass_ = 0;
  for (const Candidate& c : list_) mass_ += c.probability;
}

void CandidateSet::gather_largest(int64_t k) {
  // Whatever does not exceed the k-th largest of those seen so far cannot raise the k-th largest of all; the buffer is
  // cut back to k each time it is full, which raises that threshold, so that soon hardly anything passes.
  const size_t n_keep = static_cast<size_t>(k);
  const size_t capacity = std::max<size_t>(4 * n_keep, 512);
  float threshold = kForbidden;
  values_.clear();
  for (const float value : logits_) {
    if (!(value > threshold)) continue;
    values_.push_back(value);
    if (values_.size() < capacity) continue;
    std::nth_element(values_.begin(), values_.begin() + (k - 1), values_.end(), std::greater<>());
    values_.resize(n_keep);
    threshold = values_[n_keep - 1];
  }
}

float CandidateSet::kth_largest_logit(int64_t k) {
  if (is_list_) {
    values_.clear();
    for (const Candidate& c : list_) values_.push_back(logit(c.id));
  } else if (k >= static_cast<int64_t>(logits_.size())) {
    return kForbidden;
  } else {
    gather_largest(k);
  }
  if (static_cast<int64_t>(values_.size()) < k) return kForbidden;
  std::nth_element(values_.begin(), values_.begin() + (k - 1), values_.end(), std::greater<>());
  return values_[static_cast<size_t>(k - 1)];
}

int32_t CandidateSet::best() const {
  if (!is_list_) {
    const int64_t id = argmax(logits_);
    return id < 0 || logits_[static_cast<size_t>(id)] == kForbidden ? -1 : static_cast<int32_t>(id);
  }
  int32_t best_id = -1;
  for (const Candidate& c : list_) {
    if (logit(c.id) > (best_id < 0 ? kForbidden : logit(best_id))) best_id = c.id;
  }
  return best_id;
}

}  // namespace vitro
