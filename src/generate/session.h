// Session: sequences that grow. Owns all mutable state of running a model: cache, activations, what each sequence holds
// so far.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "cache/kv_cache.h"
#include "model/activations.h"
#include "model/transformer.h"
#include "plan/session_plan.h"

namespace vitro {

/// Tokens that one call appends to one sequence.
struct SequenceInput {
  SequenceId sequence = 0;
  std::span<const int32_t> ids;
};

/// One thread at a time. Keeps the model alive.
class Session {
 public:
  /// Allocates exactly what plan_session says. The kernel table and pool of `ctx` must outlive the session; the pool
  /// must have shape.n_threads threads. OutOfMemory; InvalidArgument as plan_session.
  static Result<Session> create(std::shared_ptr<const Model> model, const SessionShape& shape, OpContext ctx);

  /// Starts a sequence anew. `prompt_len` fixes the frequencies of length-dependent rotary kinds.
  void begin(SequenceId sequence, int64_t prompt_len);

  /// Appends ids and returns the logits after the last one, [vocab_size], valid until the next call. Long inputs go in
  /// chunks. InvalidArgument: no ids, an id outside the vocabulary, or more positions than the context has (nothing is
  /// then appended).
  Result<std::span<const float>> feed(SequenceId sequence, std::span<const int32_t> ids);

  /// Appends ids and hands the logits of every row, in order, to `sink(first_row, logits)`, in groups of at most
  /// shape.n_logits rows.
  template <class Sink>
  Status feed_all(SequenceId sequence, std::span<const int32_t> ids, Sink&& sink);

  /// One pass over several sequences at once; returns the logits after the last id of each, [n_inputs, vocab_size].
  /// InvalidArgument also if the rows are more than shape.n_batch or the inputs more than shape.n_logits.
  Result<Rows> feed_batch(std::span<const SequenceInput> inputs);

  /// Tokens that a sequence holds.
  int64_t length(SequenceId sequence) const { return states_[static_cast<size_t>(sequence)].length; }
  /// Forgets tokens from `length` on.
  void truncate(SequenceId sequence, int64_t length);

  /// Who looks at the passes from now on; null: nobody. Must outlive its use.
  void set_hooks(HookSink* hooks) { hooks_ = hooks; }

  const Model& model() const { return *model_; }
  const SessionPlan& plan() const { return plan_; }
  const KvCache& cache() const { return cache_; }
  OpContext& ctx() { return ctx_; }

 private:
  struct SequenceState {
    int64_t length = 0;
    std::vector<Rotary> rotary;
  };

  Session(std::shared_ptr<const Model> model, SessionPlan plan, KvCache cache, Activations acts, OpContext ctx);
  Status check_input(const SequenceInput& input) const;
  Rows run(std::span<const SequenceInput> inputs, std::span<const int32_t> logit_rows);

  // Constant after construction.
  std::shared_ptr<const Model> model_;
  SessionPlan plan_;
  OpContext ctx_;

  // Model thread only.
  KvCache cache_;
  Activations acts_;
  std::vector<SequenceState> states_;
  std::vector<int32_t> batch_ids_;
  std::vector<SequenceRows> batch_rows_;
  std::vector<int32_t> logit_rows_;
  HookSink* hooks_ = nullptr;
};

template <class Sink>
Status Session::feed_all(SequenceId sequence, std::span<const int32_t> ids, Sink&& sink) {
  VITRO_TRY(check_input({sequence, ids}));
  const auto n_chunk = static_cast<size_t>(std::min(plan_.shape.n_batch, plan_.shape.n_logits));
  for (size_t first = 0; first < ids.size(); first += n_chunk) {
    const auto chunk = ids.subspan(first, std::min(n_chunk, ids.size() - first));
    logit_rows_.clear();
    for (size_t i = 0; i < chunk.size(); ++i) logit_rows_.push_back(static_cast<int32_t>(i));
    const SequenceInput input{sequence, chunk};
    sink(static_cast<int64_t>(first), run({&input, 1}, logit_rows_));
  }
  return {};
}

}  // namespace vitro
