#include "generate/score.h"

#include <algorithm>
#include <cmath>

namespace vitro {
namespace {

Status check_options(std::span<const int32_t> ids, const ScoreOptions& options, int64_t n_ctx) {
  if (ids.size() < 2) return fail(ErrorCode::kInvalidArgument, "{} tokens: a loss needs at least two", ids.size());
  if (options.window < 2 || options.stride < 1 || options.stride > options.window || options.window > n_ctx) {
    return fail(ErrorCode::kInvalidArgument,
                "window {}, stride {}: expected 2 <= window <= context ({}), 1 <= stride <= window", options.window,
                options.stride, n_ctx);
  }
  return {};
}

// Adds the losses of one window: window[i] is predicted by row i - 1, counted from window[n_context] on.
Status score_window(Session& session, std::span<const int32_t> window, int64_t n_context, Score& score) {
  session.begin(0, {.prompt_len = std::ssize(window)});
  return session.feed_all(0, window, [&](int64_t first, const Rows& logits) {
    for (int64_t i = 0; i < logits.n_rows; ++i) {
      const int64_t predicted = first + i + 1;
      if (predicted < n_context || predicted >= static_cast<int64_t>(window.size())) continue;
      const float* row = logits.row(i);
      score.total_nll += session.ctx().kernels->log_sum_exp(row, logits.width) -
                         static_cast<double>(row[window[static_cast<size_t>(predicted)]]);
      ++score.n_tokens;
    }
  });
}

}  // namespace

double Score::perplexity() const { return std::exp(mean_nll()); }

Result<Score> score_ids(Session& session, std::span<const int32_t> ids, const ScoreOptions& options,
                        const ScoreProgress& progress) {
  VITRO_TRY(check_options(ids, options, session.plan().shape.n_ctx));
  const auto n_ids = static_cast<int64_t>(ids.size());
  const int64_t n_bos = options.bos_id >= 0 ? 1 : 0;
  Score score;
  std::vector<int32_t> window;
  const int64_t stride = std::min(options.stride, options.window - n_bos);  // a BOS takes a place of the window
  int64_t n_seen = 0;                                                       // ids that a window has held already
  for (int64_t first = 0; n_seen < n_ids; first += stride) {
    const int64_t end = std::min(first + options.window - n_bos, n_ids);
    window.assign(static_cast<size_t>(n_bos), options.bos_id);
    window.insert(window.end(), ids.begin() + first, ids.begin() + end);
    const int64_t n_context = std::max(n_seen - first + n_bos, int64_t{1});
    VITRO_TRY(score_window(session, window, n_context, score));
    n_seen = end;
    if (progress && !progress(n_seen, n_ids))
      return fail(ErrorCode::kCancelled, "stopped after {} of {} tokens", n_seen, n_ids);
  }
  return score;
}

}  // namespace vitro
