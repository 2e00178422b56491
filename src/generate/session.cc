#include "generate/session.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/memory.h"

namespace vitro {

Result<Session> Session::create(std::shared_ptr<const Model> model, const SessionShape& shape, OpContext ctx) {
  VITRO_CHECK(ctx.pool && ctx.kernels && ctx.pool->n_threads() == shape.n_threads);
  VITRO_TRY_ASSIGN(SessionPlan plan, plan_session(model->config, shape));
  VITRO_TRY(check_memory(plan.cache_bytes + plan.activation_bytes, "the context"));
  VITRO_TRY_ASSIGN(KvCache cache, KvCache::allocate(plan.cache));
  VITRO_TRY_ASSIGN(Buffer arena, Buffer::allocate(static_cast<size_t>(plan.activation_bytes), "activations"));
  Activations acts(plan.slots, plan.offsets, std::move(arena), model->config, plan.limits);
  return Session(std::move(model), std::move(plan), std::move(cache), std::move(acts), ctx);
}

Session::Session(std::shared_ptr<const Model> model, SessionPlan plan, KvCache cache, Activations acts, OpContext ctx)
    : model_(std::move(model)), plan_(std::move(plan)), ctx_(ctx), cache_(std::move(cache)), acts_(std::move(acts)) {
  states_.resize(static_cast<size_t>(plan_.shape.n_sequences));
  batch_ids_.reserve(static_cast<size_t>(plan_.shape.n_batch));
  batch_rows_.reserve(static_cast<size_t>(plan_.shape.n_sequences));
  logit_rows_.reserve(static_cast<size_t>(plan_.shape.n_batch));
  for (SequenceId s = 0; s < plan_.shape.n_sequences; ++s) begin(s, 1);
}

void Session::begin(SequenceId sequence, int64_t prompt_len) {
  truncate(sequence, 0);
  states_[static_cast<size_t>(sequence)].rotary = rotary_for(*model_, prompt_len);
}

void Session::truncate(SequenceId sequence, int64_t length) {
  SequenceState& state = states_[static_cast<size_t>(sequence)];
  state.length = std::min(state.length, length);
  cache_.truncate(sequence, state.length);
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
  return run(inputs, logit_rows_);
}

// Inputs are checked. Pages cannot run out: the plan has a full context for every sequence.
Rows Session::run(std::span<const SequenceInput> inputs, std::span<const int32_t> logit_rows) {
  batch_ids_.clear();
  batch_rows_.clear();
  for (const SequenceInput& input : inputs) {
    SequenceState& state = states_[static_cast<size_t>(input.sequence)];
    const auto n_rows = static_cast<int64_t>(input.ids.size());
    const Status reserved = cache_.reserve(input.sequence, state.length + n_rows);
    VITRO_CHECK(reserved.has_value());
    batch_rows_.push_back({.sequence = input.sequence,
                           .first_row = static_cast<int64_t>(batch_ids_.size()),
                           .n_rows = n_rows,
                           .first_pos = state.length,
                           .rotary = state.rotary});
    batch_ids_.insert(batch_ids_.end(), input.ids.begin(), input.ids.end());
    state.length += n_rows;
  }
  const TokenBatch batch{batch_ids_, batch_rows_, logit_rows};
  Pass pass{batch, cache_, acts_, hooks_, ctx_};
  return forward(*model_, pass);
}

}  // namespace vitro
