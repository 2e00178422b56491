#include "generate/session.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/held_bytes.h"
#include "base/memory.h"

namespace vitro {

Result<Session> Session::create(std::shared_ptr<const Model> model, const SessionShape& shape, OpContext ctx) {
  VITRO_CHECK(ctx.pool && ctx.kernels && ctx.pool->n_threads() == shape.n_threads);
  VITRO_TRY_ASSIGN(SessionPlan plan, plan_session(model->config, shape));
  VITRO_TRY(check_memory(plan.n_bytes(), "the context"));
  VITRO_TRY_ASSIGN(KvCache cache, KvCache::allocate(plan.cache));
  VITRO_TRY_ASSIGN(Buffer arena, Buffer::allocate(static_cast<size_t>(plan.activation_bytes), "activations"));
  Activations acts(plan.slots, plan.offsets, std::move(arena), model->config, plan.limits);
  return Session(std::move(model), std::move(plan), std::move(cache), std::move(acts), ctx);
}

Session::Session(std::shared_ptr<const Model> model, SessionPlan plan, KvCache cache, Activations acts, OpContext ctx)
    : model_(std::move(model)), plan_(std::move(plan)), ctx_(ctx), cache_(std::move(cache)), acts_(std::move(acts)) {
  states_.resize(static_cast<size_t>(plan_.shape.n_sequences));
  for (SequenceState& state : states_) state.ids.reserve(static_cast<size_t>(plan_.shape.n_ctx));
  batch_ids_.reserve(static_cast<size_t>(plan_.shape.n_batch));
  batch_rows_.reserve(static_cast<size_t>(plan_.shape.n_sequences));
  logit_rows_.reserve(static_cast<size_t>(std::max(plan_.shape.n_batch, plan_.shape.n_sequences)));
  for (SequenceId s = 0; s < plan_.shape.n_sequences; ++s) begin(s, {});
}

SessionBytes Session::held() const {
  static_assert(sizeof(SequenceState) == kSequenceRecordBytes);
  SessionBytes held;
  held.cache_bytes = cache_.n_bytes();
  held.activation_bytes = acts_.n_bytes();
  held.page_table_bytes = cache_.n_table_bytes() + held_bytes(plan_.cache.layers) + held_bytes(plan_.cache.groups);
  held.attend_table_bytes = acts_.n_table_bytes();
  held.sequence_bytes = held_bytes(states_);
  for (const SequenceState& state : states_) {
    held.sequence_bytes += held_bytes(state.ids) + held_bytes(state.rotary);
    for (const Rotary& rotary : state.rotary) held.sequence_bytes += held_bytes(rotary.frequencies);
  }
  held.batch_bytes = held_bytes(batch_ids_) + held_bytes(batch_rows_) + held_bytes(logit_rows_);
  return held;
}

void Session::begin(SequenceId sequence, const BeginOptions& options) {
  truncate(sequence, 0);
  SequenceState& begun = state(sequence);
  begun.begun = options;
  begun.rotary_len = options.first_pos + options.prompt_len;
  begun.rotary = rotary_for(*model_, begun.rotary_len);
}

void Session::truncate(SequenceId sequence, int64_t length) {
  std::vector<int32_t>& ids = state(sequence).ids;
  ids.resize(std::min(ids.size(), static_cast<size_t>(length)));
  const auto n_kept = std::ssize(ids);
  if (n_kept < cache_.length(sequence)) cache_.truncate(sequence, cache_.can_resume(sequence, n_kept) ? n_kept : 0);
}

// Positions that `sequence` could take over from `other` for ids. Where a window is gone at the end of what they share,
// it is gone everywhere before.
int64_t Session::n_reusable(SequenceId sequence, SequenceId other, std::span<const int32_t> ids) const {
  const SequenceState &ours = state(sequence), &theirs = state(other);
  if (other == sequence || theirs.begun.first_pos != ours.begun.first_pos || theirs.rotary != ours.rotary) return 0;
  const auto shared = ids.first(std::min(ids.size() - 1, theirs.ids.size()));
  const int64_t n = std::mismatch(shared.begin(), shared.end(), theirs.ids.begin()).first - shared.begin();
  return cache_.can_resume(other, n) ? n : 0;
}

int64_t Session::reuse_prefix(SequenceId sequence, std::span<const int32_t> ids) {
  if (length(sequence) > 0 || ids.empty()) return 0;
  settle_rotary(sequence, std::ssize(ids));
  SequenceId best = 0;
  int64_t most = 0;
  for (SequenceId other = 0; other < plan_.shape.n_sequences; ++other) {
    const int64_t n = n_reusable(sequence, other, ids);
    if (n > most) most = n, best = other;
  }
  if (most > 0) cache_.share(best, sequence, most);
  state(sequence).ids.assign(ids.begin(), ids.begin() + most);
  return most;
}

Status Session::check_input(const SequenceInput& input) const {
  if (input.sequence < 0 || input.sequence >= plan_.shape.n_sequences) {
    return fail(ErrorCode::kInvalidArgument, "sequence {}: this session has {}", input.sequence,
                plan_.shape.n_sequences);
  }
  if (input.ids.empty()) return fail(ErrorCode::kInvalidArgument, "no tokens to run; give a prompt or --ids");
  const int64_t n_total = length(input.sequence) + static_cast<int64_t>(input.ids.size());
  if (n_total > plan_.shape.n_ctx) {
    return fail(ErrorCode::kInvalidArgument,
                "{} tokens do not fit into the context of {}; shorten the prompt or ask for more "
                "with --context",
                n_total, plan_.shape.n_ctx);
  }
  const int64_t first_pos = state(input.sequence).begun.first_pos, n_reach = n_reachable(model_->config);
  if (first_pos < 0 || first_pos > n_reach - n_total) {
    return fail(ErrorCode::kInvalidArgument, "{} tokens from position {} on: this model's positions are 0 to {}",
                n_total, first_pos, n_reach - 1);
  }
  for (const int32_t id : input.ids) {
    if (id < 0 || id >= model_->config.vocab_size) {
      return fail(ErrorCode::kInvalidArgument, "token id {}: the vocabulary has ids 0 to {}", id,
                  model_->config.vocab_size - 1);
    }
  }
  return {};
}

Result<std::span<const float>> Session::feed(SequenceId sequence, std::span<const int32_t> ids) {
  VITRO_TRY(check_input({sequence, ids}));
  prepare({sequence, ids});
  const auto n_chunk = static_cast<size_t>(plan_.shape.n_batch);
  Rows logits;
  for (size_t first = 0; first < ids.size(); first += n_chunk) {
    const auto chunk = ids.subspan(first, std::min(n_chunk, ids.size() - first));
    const SequenceInput input{sequence, chunk};
    const bool is_last = first + chunk.size() == ids.size();
    const std::array last_row{static_cast<int32_t>(chunk.size() - 1)};
    logits = run({&input, 1}, is_last ? std::span<const int32_t>(last_row) : std::span<const int32_t>());
  }
  return std::span<const float>(logits.row(0), static_cast<size_t>(logits.width));
}

Result<Rows> Session::feed_batch(std::span<const SequenceInput> inputs) {
  int64_t n_rows = 0;
  logit_rows_.clear();
  for (const SequenceInput& input : inputs) {
    VITRO_TRY(check_input(input));
    const auto n_same = std::count_if(inputs.begin(), inputs.end(),
                                      [&](const SequenceInput& other) { return other.sequence == input.sequence; });
    if (n_same > 1)
      return fail(ErrorCode::kInvalidArgument, "sequence {} is given {} times in one batch", input.sequence, n_same);
    n_rows += static_cast<int64_t>(input.ids.size());
    logit_rows_.push_back(static_cast<int32_t>(n_rows - 1));
  }
  if (inputs.empty() || n_rows > plan_.shape.n_batch || static_cast<int64_t>(inputs.size()) > plan_.shape.n_logits) {
    return fail(ErrorCode::kInvalidArgument,
                "{} rows of {} sequences: this session was planned for {} rows and {} rows of logits", n_rows,
                inputs.size(), plan_.shape.n_batch, plan_.shape.n_logits);
  }
  for (const SequenceInput& input : inputs) prepare(input);
  return run(inputs, logit_rows_);
}

// Gives LongRoPE kinds the frequencies of a length of n_total. If others were in use, what the cache holds is
// forgotten, and the length where they change is returned; else 0.
int64_t Session::settle_rotary(SequenceId sequence, int64_t n_total) {
  SequenceState& state = this->state(sequence);
  const int64_t rotary_len = state.begun.first_pos + std::max(state.begun.prompt_len, n_total);
  const auto is_switched = [&](const RopeSpec& spec) {
    return spec.scaling == RopeScaling::kLongRope &&
           (rotary_len > spec.n_ctx_original) != (state.rotary_len > spec.n_ctx_original);
  };
  const std::vector<RopeSpec>& kinds = model_->rope_kinds;
  if (std::none_of(kinds.begin(), kinds.end(), is_switched)) return 0;
  const std::vector<Rotary> wanted = rotary_for(*model_, rotary_len);
  int64_t n_ctx_original = 0;
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    if (!is_switched(kinds[kind]) || wanted[kind] == state.rotary[kind]) continue;
    state.rotary[kind] = wanted[kind];
    n_ctx_original = kinds[kind].n_ctx_original;
  }
  state.rotary_len = rotary_len;
  if (n_ctx_original > 0) cache_.truncate(sequence, 0);
  return n_ctx_original;
}

// Before rows are appended: computes anew what the cache does not hold, or not with the right frequencies.
void Session::prepare(const SequenceInput& input) {
  const SequenceId sequence = input.sequence;
  const int64_t n_ctx_original = settle_rotary(sequence, length(sequence) + std::ssize(input.ids));
  const int64_t n_tokens = length(sequence) - cache_.length(sequence);
  if (n_tokens == 0) return;
  while (cache_.length(sequence) < length(sequence)) {
    const auto rest = ids(sequence).subspan(static_cast<size_t>(cache_.length(sequence)));
    const SequenceInput chunk{sequence, rest.first(std::min(rest.size(), static_cast<size_t>(plan_.shape.n_batch)))};
    forward_rows({&chunk, 1}, {}, nullptr);
  }
  n_recomputed_ += n_tokens;
  if (on_recompute_) on_recompute_({sequence, n_tokens, n_ctx_original});
}

Rows Session::run(std::span<const SequenceInput> inputs, std::span<const int32_t> logit_rows) {
  for (const SequenceInput& input : inputs) {
    std::vector<int32_t>& ids = state(input.sequence).ids;
    ids.insert(ids.end(), input.ids.begin(), input.ids.end());
  }
  return forward_rows(inputs, logit_rows, hooks_);
}

// Inputs are checked. Pages cannot run out: the plan has a full context for every sequence, or where layers keep a
// window, that and a batch.
Rows Session::forward_rows(std::span<const SequenceInput> inputs, std::span<const int32_t> logit_rows,
                           HookSink* hooks) {
  batch_ids_.clear();
  batch_rows_.clear();
  for (const SequenceInput& input : inputs) {
    const SequenceState& state = this->state(input.sequence);
    const int64_t first_pos = cache_.length(input.sequence), n_rows = std::ssize(input.ids);
    const Status reserved = cache_.reserve(input.sequence, first_pos + n_rows);
    VITRO_CHECK(reserved.has_value());
    batch_rows_.push_back({.sequence = input.sequence,
                           .first_row = std::ssize(batch_ids_),
                           .n_rows = n_rows,
                           .first_pos = first_pos,
                           .pos_shift = state.begun.first_pos,
                           .rotary = state.rotary});
    batch_ids_.insert(batch_ids_.end(), input.ids.begin(), input.ids.end());
  }
  const TokenBatch batch{batch_ids_, batch_rows_, logit_rows};
  Pass pass{batch, cache_, acts_, hooks, ctx_};
  return forward(*model_, pass);
}

}  // namespace vitro
