// Shared by the two kinds of verification; not for other folders.
#pragma once

#include <memory>

#include "generate/session.h"
#include "inspect/expectation.h"
#include "inspect/verify.h"

namespace vitro {

/// One folder being verified: expectations, the loaded model, and the report that fills.
struct Verification {
  const Expectation& expected;
  const VerifyOptions& options;
  std::shared_ptr<const Model> model;
  std::filesystem::path model_path;
  OpContext ctx;
  VerifyReport& report;

  /// A session for one sequence of n_ctx tokens that can give n_logits rows of logits a pass.
  Result<Session> session(int64_t n_ctx, int64_t n_batch, int64_t n_logits) const;
  /// Notes a failure if `error` is above `limit`, and keeps the largest in `worst`.
  void judge(double error, double limit, std::string_view what, double& worst) const;
};

/// Runs `ids` token by token (positions from `first` on after a prefill of the rest) and compares every row of logits,
/// bit for bit, with the rows of the whole pass: whole [n_ids - first, vocab_size], its row 0 belongs to ids[first].
Status compare_steps(const Verification& v, Session& session, std::span<const int32_t> ids, int64_t first,
                     int64_t prompt_len, ConstRows whole);

Status verify_checkpoint(const Verification& v);
Status verify_real(const Verification& v);

}  // namespace vitro
