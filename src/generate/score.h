// Scoring a text that is already there: next-token loss and perplexity (exp of the mean loss).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "generate/session.h"

namespace vitro {

struct ScoreOptions {
  int64_t window = 512;  ///< tokens a window; the session's context must hold them
  int64_t stride = 512;  ///< distance of windows; tokens that an earlier window has counted are context only
  int32_t bos_id = -1;   ///< put before each window (within its length); -1: nothing
};

struct Score {
  double total_nll = 0;  ///< natural logarithm
  int64_t n_tokens = 0;  ///< counted: not the first of each window
  double mean_nll() const { return n_tokens ? total_nll / static_cast<double>(n_tokens) : 0; }
  double perplexity() const;
};

/// Tokens done and in all; called between windows. False stops with Cancelled.
using ScoreProgress = std::function<bool(int64_t n_done, int64_t n_total)>;

/// Mean of -log p(id[i] | ids before it in the window) over the counted tokens, sums in double. InvalidArgument: fewer
/// than two ids, window < 2, stride < 1 or > window.
Result<Score> score_ids(Session& session, std::span<const int32_t> ids, const ScoreOptions& options,
                        const ScoreProgress& progress);

}  // namespace vitro
