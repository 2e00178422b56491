// Session: sequences that grow. Owns all mutable state of running a model: cache, activations, what each sequence holds
// so far. What a sequence gives depends on its ids, its prompt's length and its first position alone: where earlier
// keys and values are gone, or were made with other rotary frequencies, they are computed anew.
#pragma once

#include <cstdint>
#include <functional>
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

/// How a sequence begins.
struct BeginOptions {
  /// Tokens of the whole prompt, known before its first chunk: fixes the frequencies of length-dependent rotary kinds.
  int64_t prompt_len = 1;
  /// Position of the first token, as learned and rotary positions see it. A text at position 100,000 needs no 100,000
  /// tokens before it.
  int64_t first_pos = 0;
};

/// Tokens of a sequence that were computed anew, and why.
struct Recomputation {
  SequenceId sequence = 0;
  int64_t n_tokens = 0;
  /// The length that LongRoPE's short factors are for, which the sequence passed or came back below; 0: the sequence
  /// was cut to a length whose window was gone.
  int64_t n_ctx_original = 0;
};
using RecomputeCallback = std::function<void(const Recomputation&)>;

/// One thread at a time. Keeps the model alive.
class Session {
 public:
  /// Allocates exactly what plan_session says. The kernel table and pool of `ctx` must outlive the session; the pool
  /// must have shape.n_threads threads. OutOfMemory; InvalidArgument as plan_session.
  static Result<Session> create(std::shared_ptr<const Model> model, const SessionShape& shape, OpContext ctx);

  /// Starts a sequence anew.
  void begin(SequenceId sequence, const BeginOptions& options);

  /// For a sequence that has just begun (0 otherwise): takes over the keys and values of the longest beginning of `ids`
  /// that another sequence holds, computed from the same first position with the same rotary frequencies. Returns how
  /// many tokens the sequence then holds, at most ids.size() - 1, so that something is left to feed. The bits are those
  /// of feeding the tokens; both sequences may go on.
  int64_t reuse_prefix(SequenceId sequence, std::span<const int32_t> ids);

  /// Appends ids and returns the logits after the last one, [vocab_size], valid until the next call. Long inputs go in
  /// chunks. InvalidArgument: no ids, an id outside the vocabulary, or more positions than the context has or learned
  /// positions reach (nothing is then appended).
  ///
  /// LongRoPE's frequencies depend on the length: a sequence uses those of its prompt's length or of its length after
  /// this call, whichever is longer. When a call passes the switch, the earlier tokens are computed anew, once, in
  /// chunks, unseen by hooks. Dynamic scaling keeps the frequencies of the prompt.
  Result<std::span<const float>> feed(SequenceId sequence, std::span<const int32_t> ids);

  /// Appends ids and hands the logits of every row, in order, to `sink(first_row, logits)`, in groups of at most
  /// shape.n_logits rows.
  template <class Sink>
  Status feed_all(SequenceId sequence, std::span<const int32_t> ids, Sink&& sink);

  /// One pass over several sequences at once; returns the logits after the last id of each, [n_inputs, vocab_size].
  /// InvalidArgument also if the rows are more than shape.n_batch or the inputs more than shape.n_logits.
  Result<Rows> feed_batch(std::span<const SequenceInput> inputs);

  /// Tokens that a sequence holds.
  int64_t length(SequenceId sequence) const { return std::ssize(state(sequence).ids); }
  std::span<const int32_t> ids(SequenceId sequence) const { return state(sequence).ids; }
  /// Forgets tokens from `length` on.
  void truncate(SequenceId sequence, int64_t length);

  /// Who looks at the passes from now on; null: nobody. Must outlive its use.
  void set_hooks(HookSink* hooks) { hooks_ = hooks; }
  /// Who hears, from now on, of tokens that were computed anew.
  void set_recompute_callback(RecomputeCallback callback) { on_recompute_ = std::move(callback); }
  /// Tokens computed anew so far, of all sequences.
  int64_t n_recomputed() const { return n_recomputed_; }

  const Model& model() const { return *model_; }
  const SessionPlan& plan() const { return plan_; }
  const KvCache& cache() const { return cache_; }
  /// What the session holds, asked of every owner: the plan's figures, found another way.
  SessionBytes held() const;
  OpContext& ctx() { return ctx_; }

 private:
  struct SequenceState {
    std::vector<int32_t> ids;  ///< room for shape.n_ctx; the cache holds the first of them, after a cut maybe none
    BeginOptions begun;
    int64_t rotary_len = 1;  ///< what `rotary` was made for, first_pos included
    std::vector<Rotary> rotary;
  };

  Session(std::shared_ptr<const Model> model, SessionPlan plan, KvCache cache, Activations acts, OpContext ctx);
  const SequenceState& state(SequenceId sequence) const { return states_[static_cast<size_t>(sequence)]; }
  SequenceState& state(SequenceId sequence) { return states_[static_cast<size_t>(sequence)]; }
  Status check_input(const SequenceInput& input) const;
  int64_t settle_rotary(SequenceId sequence, int64_t n_total);
  void prepare(const SequenceInput& input);
  int64_t n_reusable(SequenceId sequence, SequenceId other, std::span<const int32_t> ids) const;
  Rows run(std::span<const SequenceInput> inputs, std::span<const int32_t> logit_rows);
  Rows forward_rows(std::span<const SequenceInput> inputs, std::span<const int32_t> logit_rows, HookSink* hooks);

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
  RecomputeCallback on_recompute_;
  int64_t n_recomputed_ = 0;
};

template <class Sink>
Status Session::feed_all(SequenceId sequence, std::span<const int32_t> ids, Sink&& sink) {
  VITRO_TRY(check_input({sequence, ids}));
  prepare({sequence, ids});
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
