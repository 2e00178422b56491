#include "plan/training_activations.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/saturating.h"
#include "plan/saved_tensors.h"

namespace vitro {
namespace {

constexpr auto kRecomputations = std::to_array<std::string_view>({
#define VITRO_X(name, text, doc) text,
    VITRO_RECOMPUTATIONS(VITRO_X)
#undef VITRO_X
});
constexpr auto kLossKinds = std::to_array<std::string_view>({
#define VITRO_X(name, text, logit, copy, gradient, cast, doc) text,
    VITRO_LOSS_KINDS(VITRO_X)
#undef VITRO_X
});

struct LogitBytes {
  int64_t logit, copy, gradient, cast;
};
constexpr auto kLogitBytes = std::to_array<LogitBytes>({
#define VITRO_X(name, text, logit, copy, gradient, cast, doc) {logit, copy, gradient, cast},
    VITRO_LOSS_KINDS(VITRO_X)
#undef VITRO_X
});

constexpr int64_t kFloatBytes = 4;
constexpr int64_t kMaskBytes = 1;

Result<size_t> find_choice(std::span<const std::string_view> names, std::string_view option, std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at != names.end()) return static_cast<size_t>(at - names.begin());
  std::string all;
  for (const std::string_view one : names) all.append(all.empty() ? "" : ", ").append(one);
  return fail(ErrorCode::kInvalidArgument, "{} '{}': there are {}", option, name, all);
}

int64_t divided_up(int64_t n, int64_t by) { return n == kSaturated ? n : n / by + (n % by != 0 ? 1 : 0); }

// Rows of one micro-batch as factors, divided where sequence parallelism does so.
std::vector<Factor> row_factors(const ActivationQuestion& question, bool is_source, bool is_sequence) {
  const TrainingShape& shape = question.shape;
  Factor rows = is_source ? Factor{"n_source", shape.n_source} : Factor{"seq_len", shape.seq_len};
  if (is_sequence && question.layout.is_sequence_parallel) {
    rows = {rows.name + " / tensor-parallel", divided_up(rows.value, question.layout.tensor)};
  }
  return {{"micro_batch", shape.micro_batch}, std::move(rows)};
}

PlanItem rows_item(std::string name, std::vector<Factor> counts, std::vector<Factor> rows, std::vector<Factor> width,
                   int64_t element_bytes) {
  counts.insert(counts.end(), rows.begin(), rows.end());
  counts.insert(counts.end(), width.begin(), width.end());
  counts.push_back({"", element_bytes, " B"});
  return product_item(std::move(name), counts);
}

// Kept or dropped tensors of a block, `counts` times.
std::vector<PlanItem> tensor_items(const ActivationQuestion& question, const BlockSpec& block, bool is_encoder,
                                   const std::vector<Factor>& counts, bool is_dropped) {
  std::vector<PlanItem> items;
  for (SavedTensor& tensor : saved_tensors(question, block, is_encoder)) {
    if (tensor.is_dropped != is_dropped) continue;
    auto rows = row_factors(question, is_encoder || tensor.is_source, tensor.is_sequence);
    items.push_back(
        rows_item(std::move(tensor.name), counts, std::move(rows), std::move(tensor.width), tensor.element_bytes));
  }
  return items;
}

// Blocks that keep the same, in order of first use.
struct Group {
  const BlockSpec* block;
  int64_t n = 0;
  int64_t first = 0;
};

bool keeps_the_same(const ActivationQuestion& question, const BlockSpec& a, const BlockSpec& b, bool is_encoder) {
  if (a == b) return true;
  const auto of_a = saved_tensors(question, a, is_encoder), of_b = saved_tensors(question, b, is_encoder);
  const auto elements = [](const SavedTensor& tensor) { return product_item("", tensor.width).amount; };
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), [&](const auto& x, const auto& y) {
    return x.name == y.name && x.element_bytes == y.element_bytes && elements(x) == elements(y);
  });
}

using Blocks = std::vector<const BlockSpec*>;

// Remembers, because layers repeat a few kinds.
class Groups {
 public:
  Groups(const ActivationQuestion& question, bool is_encoder) : question_(question), is_encoder_(is_encoder) {}

  Group& of(const BlockSpec& block) {
    const auto same = std::find_if(seen_.begin(), seen_.end(), [&](const auto& pair) { return *pair.first == block; });
    if (same != seen_.end()) return groups_[same->second];
    const auto at = std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) {
      return keeps_the_same(question_, *group.block, block, is_encoder_);
    });
    const auto index = static_cast<size_t>(at - groups_.begin());
    if (at == groups_.end()) groups_.push_back({&block});
    seen_.emplace_back(&block, index);
    return groups_[index];
  }
  const std::vector<Group>& all() const { return groups_; }

 private:
  const ActivationQuestion& question_;
  bool is_encoder_;
  std::vector<std::pair<const BlockSpec*, size_t>> seen_;
  std::vector<Group> groups_;
};

Blocks blocks_of_stage(const ActivationQuestion& question, int64_t stage, bool is_encoder) {
  const auto& stack = is_encoder ? question.config.encoder_blocks : question.config.blocks;
  Blocks blocks;
  for (size_t i = 0; i < stack.size(); ++i) {
    const auto layer = static_cast<int64_t>(i);
    const bool is_here = question.layout.pipeline == 1 ||
                         stage_of_layer(question.layout, static_cast<int64_t>(stack.size()), layer) == stage;
    if (is_here) blocks.push_back(&stack[i]);
  }
  return blocks;
}

// n layers' passes that a stage holds: all its layers for each micro-batch in flight; interleaved, chunks of them.
std::vector<Factor> pass_factors(const ActivationQuestion& question, int64_t stage, std::string name, int64_t n) {
  const int64_t c = n_in_flight(question.layout, question.shape.n_micro_batches, stage);
  const int64_t v = question.layout.n_chunks;
  if (v == 1) return {{std::move(name), n}, {"micro-batches in flight", c}};
  return {{name + " x chunks in flight / interleave", divided_up(sat_mul(n, c), v)}};
}

std::string group_name(const Group& group, size_t n_groups, bool is_encoder) {
  const std::string_view stack = is_encoder ? "encoder " : "";
  if (n_groups == 1) return fmt::format("{}{} layers", stack, group.n);
  return fmt::format("{}{} layers like {}", stack, group.n, group.first);
}

std::vector<PlanItem> layer_items(const ActivationQuestion& question, const Blocks& blocks, bool is_encoder,
                                  int64_t stage, bool is_in_flight) {
  Groups groups(question, is_encoder);
  for (size_t i = 0; i < blocks.size(); ++i) {
    Group& group = groups.of(*blocks[i]);
    if (group.n++ == 0) group.first = static_cast<int64_t>(i);
  }
  std::vector<PlanItem> items;
  for (const Group& group : groups.all()) {
    const std::vector<Factor> counts =
        is_in_flight ? pass_factors(question, stage, "layers", group.n) : std::vector<Factor>{{"layers", group.n}};
    items.push_back(sum_item(group_name(group, groups.all().size(), is_encoder),
                             tensor_items(question, *group.block, is_encoder, counts, false)));
  }
  return items;
}

// The inputs of every k-th layer.
PlanItem checkpoint_item(const ActivationQuestion& question, int64_t n_layer, bool is_encoder, int64_t stage) {
  const int64_t n = divided_up(n_layer, question.policy.layers_per_checkpoint);
  return rows_item(is_encoder ? "encoder checkpoints" : "checkpoints", pass_factors(question, stage, "checkpoints", n),
                   row_factors(question, is_encoder, true), {{"d_model", question.config.d_model}},
                   question.policy.element_bytes);
}

std::vector<PlanItem> stack_items(const ActivationQuestion& question, bool is_encoder, int64_t stage) {
  const Blocks blocks = blocks_of_stage(question, stage, is_encoder);
  if (question.policy.recomputation != Recomputation::kFull) {
    return layer_items(question, blocks, is_encoder, stage, true);
  }
  if (blocks.empty()) return {};
  return {checkpoint_item(question, static_cast<int64_t>(blocks.size()), is_encoder, stage)};
}

// A tensor of d_model wide rows outside the blocks.
PlanItem outer_item(const ActivationQuestion& question, std::string name, bool is_encoder, int64_t stage,
                    const Factor& width, int64_t element_bytes) {
  return rows_item(std::move(name), pass_factors(question, stage, "tensors", 1),
                   row_factors(question, is_encoder, true), {width}, element_bytes);
}

int64_t n_statistics(const NormSpec& norm) {
  return norm.kind == NormKind::kNone ? 0 : norm.kind == NormKind::kLayerNorm ? 2 : 1;
}

PlanItem embedding_item(const ActivationQuestion& question, int64_t stage) {
  std::vector<PlanItem> parts;
  const ModelConfig& config = question.config;
  const Factor d_model{"d_model", config.d_model};
  for (const bool is_encoder : {false, true}) {
    if (is_encoder && config.encoder_blocks.empty()) continue;
    const std::string stack = is_encoder ? "encoder " : "";
    if (question.policy.has_dropout) {
      parts.push_back(outer_item(question, stack + "dropout mask", is_encoder, stage, d_model, kMaskBytes));
    }
    if (config.embed_norm.kind == NormKind::kNone) continue;
    parts.push_back(
        outer_item(question, stack + "norm input", is_encoder, stage, d_model, question.policy.element_bytes));
    parts.push_back(outer_item(question, stack + "statistics", is_encoder, stage,
                               {"row statistics", n_statistics(config.embed_norm)}, kFloatBytes));
  }
  return sum_item("embedding", std::move(parts));
}

// The final norm and the head's input; of an encoder-decoder also the encoder's output, which all layers of the decoder
// read.
PlanItem end_item(const ActivationQuestion& question, int64_t stage) {
  std::vector<PlanItem> parts;
  const ModelConfig& config = question.config;
  const Factor d_model{"d_model", config.d_model};
  const int64_t n_bytes = question.policy.element_bytes;
  const int64_t n_values = n_statistics(config.final_norm);
  for (const bool is_encoder : {false, true}) {
    if (is_encoder && config.encoder_blocks.empty()) continue;
    const std::string stack = is_encoder ? "encoder " : "";
    if (n_values > 0) {
      parts.push_back(outer_item(question, stack + "final norm input", is_encoder, stage, d_model, n_bytes));
      parts.push_back(outer_item(question, stack + "final norm statistics", is_encoder, stage,
                                 {"row statistics", n_values}, kFloatBytes));
    }
    const bool is_head_trained = !question.is_lora || is_encoder;  // cross attention reads the encoder's output
    if (!is_head_trained) continue;
    parts.push_back(
        outer_item(question, is_encoder ? "encoder output" : "head input", is_encoder, stage, d_model, n_bytes));
    if (config.d_embed == 0 || is_encoder) continue;
    parts.push_back(outer_item(question, "projected head input", false, stage, {"d_embed", config.d_embed}, n_bytes));
  }
  return sum_item("final norm and head", std::move(parts));
}

int64_t kept_bytes(const ActivationQuestion& question, const BlockSpec& block, bool is_encoder) {
  return block_activation_item(question, block, is_encoder).amount;
}

// The k consecutive layers that keep the most.
Blocks largest_segment(const ActivationQuestion& question, const Blocks& blocks, bool is_encoder) {
  const auto k = static_cast<size_t>(question.policy.layers_per_checkpoint);
  Blocks largest;
  int64_t most = -1;
  const BlockSpec* last = nullptr;
  int64_t n_last = 0;
  for (size_t begin = 0; begin < blocks.size(); begin += k) {
    const size_t end = std::min(blocks.size() - begin, k) + begin;
    int64_t n = 0;
    for (size_t i = begin; i < end; ++i) {
      if (!last || !(*last == *blocks[i])) n_last = kept_bytes(question, *blocks[i], is_encoder);
      last = blocks[i];
      n = sat_add(n, n_last);
    }
    if (n <= most) continue;
    most = n;
    largest.assign(blocks.begin() + static_cast<std::ptrdiff_t>(begin),
                   blocks.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return largest;
}

// Tensors of one layer that are made again: of the layer that drops the most.
PlanItem dropped_item(const ActivationQuestion& question, const Blocks& blocks, bool is_encoder) {
  PlanItem largest{.name = "tensors made again"};
  Groups groups(question, is_encoder);
  for (const BlockSpec* block : blocks) groups.of(*block);
  for (const Group& group : groups.all()) {
    PlanItem item = sum_item("tensors made again", tensor_items(question, *group.block, is_encoder, {}, true));
    if (item.amount > largest.amount) largest = std::move(item);
  }
  return largest;
}

// What is alive for itself while a stack's backward is at its worst layer.
PlanItem recomputed_stack_item(const ActivationQuestion& question, int64_t stage, bool is_encoder) {
  const Blocks blocks = blocks_of_stage(question, stage, is_encoder);
  std::vector<PlanItem> parts;
  if (question.policy.recomputation == Recomputation::kFull) {
    parts = layer_items(question, largest_segment(question, blocks, is_encoder), is_encoder, stage, false);
  }
  parts.push_back(dropped_item(question, blocks, is_encoder));
  return sum_item("recomputed", std::move(parts));
}

// Elements of a row that a block's backward works on besides the residual's gradient.
std::vector<PlanItem> working_items(const ActivationQuestion& question, const BlockSpec& block, bool is_encoder) {
  const AttentionSpec& attn = block.attn;
  const FeedForwardSpec& ffn = block.ffn;
  const int64_t t = question.layout.tensor, kv_heads = attn.kv_lora_rank > 0 ? attn.n_head : attn.n_kv_head;
  const int64_t n_hidden = ffn.moe.n_expert == 0
                               ? ffn.d_ff
                               : sat_add(sat_mul(ffn.moe.n_expert_used, ffn.moe.d_ff_expert), ffn.moe.d_ff_shared);
  const int64_t n_attn =
      sat_add(sat_mul(attn.n_head, attn.d_head + attn.d_head_v), sat_mul(kv_heads, attn.d_head + attn.d_head_v));
  const auto rows = row_factors(question, is_encoder, false);
  const int64_t n_bytes = question.policy.element_bytes;
  PlanItem inner =
      rows_item("feed-forward", {}, rows,
                {{"hidden units", divided_up(n_hidden, t)}, {"gate and up", ffn.is_gated ? 2 : 1}}, n_bytes);
  PlanItem attention = rows_item("attention", {}, rows, {{"q, k, v, output", divided_up(n_attn, t)}}, n_bytes);
  if (!question.policy.is_tiled) {
    const Factor keys{"keys", is_encoder ? question.shape.n_source : question.shape.seq_len};
    PlanItem scores =
        rows_item("scores", {}, rows, {{"n_head", divided_up(attn.n_head, t)}, keys}, question.policy.score_bytes);
    attention = sum_item("attention", {std::move(attention), std::move(scores)});
  }
  PlanItem residual = rows_item("residual", {}, rows, {{"d_model", question.config.d_model}}, n_bytes);
  return {std::move(residual), attention.amount > inner.amount ? std::move(attention) : std::move(inner)};
}

}  // namespace

std::string_view recomputation_name(Recomputation recomputation) {
  return kRecomputations[static_cast<size_t>(recomputation)];
}
std::string_view loss_kind_name(LossKind kind) { return kLossKinds[static_cast<size_t>(kind)]; }

Result<Recomputation> parse_recomputation(std::string_view name) {
  VITRO_TRY_ASSIGN(const size_t index, find_choice(kRecomputations, "recompute", name));
  return static_cast<Recomputation>(index);
}

Result<LossKind> parse_loss_kind(std::string_view name) {
  VITRO_TRY_ASSIGN(const size_t index, find_choice(kLossKinds, "loss", name));
  return static_cast<LossKind>(index);
}

int64_t TrainingShape::n_rows() const { return sat_mul(micro_batch, seq_len); }
int64_t TrainingShape::n_source_rows() const { return sat_mul(micro_batch, n_source); }

int64_t n_in_flight(const ParallelLayout& layout, int64_t n_micro_batches, int64_t stage) {
  const int64_t p = layout.pipeline, v = layout.n_chunks;
  if (v == 1) return std::min(n_micro_batches, p - stage);
  return std::min(sat_mul(n_micro_batches, v), 2 * (p - stage - 1) + (v - 1) * p + 1);
}

PlanItem block_activation_item(const ActivationQuestion& question, const BlockSpec& block, bool is_encoder) {
  return sum_item("a layer", tensor_items(question, block, is_encoder, {}, false));
}

PlanItem saved_item(const ActivationQuestion& question, int64_t stage) {
  std::vector<PlanItem> parts;
  if (stage == 0 && !question.is_lora) parts.push_back(embedding_item(question, stage));
  for (const bool is_encoder : {true, false}) {
    std::vector<PlanItem> items = stack_items(question, is_encoder, stage);
    std::move(items.begin(), items.end(), std::back_inserter(parts));
  }
  if (stage == question.layout.pipeline - 1) parts.push_back(end_item(question, stage));
  return sum_item("activations", std::move(parts));
}

PlanItem recomputed_item(const ActivationQuestion& question, int64_t stage) {
  PlanItem decoder = recomputed_stack_item(question, stage, false);
  PlanItem encoder = recomputed_stack_item(question, stage, true);
  return encoder.amount > decoder.amount ? encoder : decoder;
}

PlanItem loss_item(const ActivationQuestion& question) {
  const ActivationPolicy& policy = question.policy;
  if (question.config.kind == ModelKind::kEncoder) return {.name = "logits and loss"};
  const LogitBytes& bytes = kLogitBytes[static_cast<size_t>(policy.loss)];
  const Factor vocab{question.layout.tensor == 1 ? "vocab_size" : "vocab_size / tensor-parallel",
                     divided_up(question.config.vocab_size, question.layout.tensor)};
  std::vector<Factor> rows = row_factors(question, false, false);
  PlanItem losses = rows_item("losses", {}, rows, {}, kFloatBytes);
  if (policy.loss == LossKind::kChunked)
    rows = {{"rows at a time", std::min(policy.loss_rows, question.shape.n_rows())}};
  const auto item = [&](std::string name, int64_t n_bytes) {
    return rows_item(std::move(name), {}, rows, {vocab}, n_bytes);
  };
  return sum_item("logits and loss",
                  {item("logits", bytes.logit), item("float32 logits", bytes.copy),
                   item("float32 gradient", bytes.gradient), item("16-bit gradient", bytes.cast), std::move(losses)});
}

PlanItem working_gradient_item(const ActivationQuestion& question, int64_t stage) {
  PlanItem largest{.name = "working gradients"};
  for (const bool is_encoder : {false, true}) {
    Groups groups(question, is_encoder);
    for (const BlockSpec* block : blocks_of_stage(question, stage, is_encoder)) groups.of(*block);
    for (const Group& group : groups.all()) {
      PlanItem item = sum_item("working gradients", working_items(question, *group.block, is_encoder));
      if (item.amount > largest.amount) largest = std::move(item);
    }
  }
  largest.certainty = Certainty::kEstimated;
  return largest;
}

}  // namespace vitro
