#include "generate/logits_source.h"

namespace vitro {

CachedLogits::CachedLogits(Session& session, SequenceId sequence, int64_t prompt_len)
    : session_(session), sequence_(sequence) {
  session_.begin(sequence, {.prompt_len = prompt_len});
}

Result<std::span<const float>> CachedLogits::feed(std::span<const int32_t> ids) {
  return session_.feed(sequence_, ids);
}

int64_t CachedLogits::room() const { return session_.plan().shape.n_ctx - session_.length(sequence_); }

UncachedLogits::UncachedLogits(Session& session, SequenceId sequence) : session_(session), sequence_(sequence) {
  ids_.reserve(static_cast<size_t>(session.plan().shape.n_ctx));
}

Result<std::span<const float>> UncachedLogits::feed(std::span<const int32_t> ids) {
  if (ids_.empty()) prompt_len_ = static_cast<int64_t>(ids.size());
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  session_.begin(sequence_, {.prompt_len = prompt_len_});
  return session_.feed(sequence_, ids_);
}

int64_t UncachedLogits::room() const { return session_.plan().shape.n_ctx - static_cast<int64_t>(ids_.size()); }

}  // namespace vitro
