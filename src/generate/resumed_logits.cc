#include "generate/resumed_logits.h"

#include <algorithm>

namespace vitro {

int64_t n_common(std::span<const int32_t> a, std::span<const int32_t> b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

Result<std::span<const float>> ResumedLogits::feed(std::span<const int32_t> ids) {
  if (!is_begun_) return feed_prompt(ids);
  n_computed_ += std::ssize(ids);
  return sequence_.feed(ids);
}

Result<std::span<const float>> ResumedLogits::feed_prompt(std::span<const int32_t> ids) {
  if (ids.empty()) return fail(ErrorCode::kInvalidArgument, "the prompt has no tokens");
  is_begun_ = true;
  n_reused_ = std::min(n_common(sequence_.ids(), ids), std::ssize(ids) - 1);
  if (n_reused_ == 0) {
    sequence_.begin(std::ssize(ids));
  } else {
    sequence_.truncate(n_reused_);
  }
  std::span<const int32_t> rest = ids.subspan(static_cast<size_t>(n_reused_));
  const int64_t n_total = std::ssize(rest);
  VITRO_TRY(check_progress(n_total));
  while (true) {
    const auto chunk = rest.first(std::min(rest.size(), static_cast<size_t>(kChunk)));
    VITRO_TRY_ASSIGN(const std::span<const float> logits, sequence_.feed(chunk));
    n_computed_ += std::ssize(chunk);
    rest = rest.subspan(chunk.size());
    VITRO_TRY(check_progress(n_total));  // after the last chunk too, which often is the only one
    if (rest.empty()) return logits;
  }
}

Status ResumedLogits::check_progress(int64_t n_total) const {
  if (!on_progress_ || on_progress_(n_computed_, n_total)) return {};
  return fail(ErrorCode::kCancelled, "stopped after {} of {} new tokens", n_computed_, n_total);
}

int64_t ResumedLogits::room() const {
  return is_begun_ ? sequence_.n_ctx() - std::ssize(sequence_.ids()) : sequence_.n_ctx();
}

}  // namespace vitro
