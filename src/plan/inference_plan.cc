#include "plan/inference_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/saturating.h"
#include "model/model.h"
#include "plan/element_bytes.h"
#include "plan/liveness.h"

namespace vitro {
namespace {

// What a buffer is to an engine on a GPU: 16 bits but where sums need more; tiles of threads stay in registers.
int64_t half_element_bytes(Act act) {
  const bool is_float = act == Act::kLse || act == Act::kLogits || act == Act::kRopeCos || act == Act::kRopeSin;
  return act == Act::kAttendScratch ? 0 : is_float ? kFloatBytes : kHalfBytes;
}

int64_t buffer_bytes(const ActivationSlot& slot, EngineKind engine) {
  if (engine == EngineKind::kVitro) return slot.n_bytes();
  return sat_mul(slot.n_rows, slot.width, half_element_bytes(slot.act));
}

bool is_live(const ActivationSlot& slot, Step step) { return slot.first <= step && step <= slot.last; }

struct Peak {
  Step step = Step::kEmbed;
  int64_t n_bytes = 0;
};

Peak find_peak(const std::array<ActivationSlot, kNActs>& slots, EngineKind engine) {
  Peak peak;
  for (int s = 0; s <= static_cast<int>(Step::kAfter); ++s) {
    int64_t n_bytes = 0;
    for (const ActivationSlot& slot : slots) {
      if (is_live(slot, static_cast<Step>(s))) n_bytes = sat_add(n_bytes, buffer_bytes(slot, engine));
    }
    if (n_bytes > peak.n_bytes) peak = {static_cast<Step>(s), n_bytes};
  }
  return peak;
}

PlanItem buffer_item(const ActivationSlot& slot, EngineKind engine) {
  const int64_t element = engine == EngineKind::kVitro ? kFloatBytes : half_element_bytes(slot.act);
  return product_item(std::string(act_name(slot.act)),
                      {{"rows", slot.n_rows}, {"width", slot.width}, {"", element, " B"}});
}

// The pass that needs the most.
struct LargestPass {
  std::array<ActivationSlot, kNActs> slots{};
  Peak peak;
  std::string_view owner = {};  ///< "the encoder: " of an encoder-decoder
  bool is_in_batches = true;    ///< of n_batch rows, as the session lays it out
};

// Rows that see those behind them cannot come in batches: all n positions of all sequences pass at once.
LargestPass whole_pass(const ModelConfig& config, int64_t n, const SessionPlan& session, EngineKind engine) {
  BatchLimits limits = session.limits;
  limits.n_tokens = sat_mul(session.shape.n_sequences, n);
  limits.n_ctx = n;
  LargestPass pass{.slots = activation_slots(config, limits), .is_in_batches = false};
  pass.peak = find_peak(pass.slots, engine);
  return pass;
}

// The encoder of an encoder-decoder as a model of its own; its output takes the place of logits.
ModelConfig encoder_of(const ModelConfig& config) {
  ModelConfig encoder = config;
  encoder.kind = ModelKind::kEncoder;
  encoder.blocks = std::move(encoder.encoder_blocks);
  encoder.encoder_blocks = {};
  encoder.vocab_size = 0;
  return encoder;
}

LargestPass largest_pass(const ModelConfig& config, const SessionPlan& session, const InferenceShape& shape) {
  if (config.kind == ModelKind::kEncoder) return whole_pass(config, session.shape.n_ctx, session, shape.engine);
  LargestPass decoder{.slots = session.slots, .peak = find_peak(session.slots, shape.engine)};
  if (config.encoder_blocks.empty() || shape.n_source <= 0) return decoder;
  LargestPass encoder = whole_pass(encoder_of(config), shape.n_source, session, shape.engine);
  encoder.owner = "the encoder: ";
  return encoder.peak.n_bytes > decoder.peak.n_bytes ? encoder : decoder;
}

// The buffers that are alive at the peak; in our arena also what their placement cannot use.
PlanItem activation_item(const SessionPlan& session, EngineKind engine, const LargestPass& pass) {
  std::vector<PlanItem> parts;
  for (const ActivationSlot& slot : pass.slots) {
    if (is_live(slot, pass.peak.step) && buffer_bytes(slot, engine) > 0) parts.push_back(buffer_item(slot, engine));
  }
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.amount > b.amount; });
  if (engine == EngineKind::kVitro && pass.is_in_batches) {
    parts.push_back(
        {.name = "gaps", .amount = session.activation_bytes - pass.peak.n_bytes, .formula = "arena - live bytes"});
  }
  PlanItem item = sum_item("activations", std::move(parts));
  item.formula = fmt::format("{}buffers alive at {}", pass.owner, step_name(pass.peak.step));
  if (engine == EngineKind::kHalf) item.certainty = Certainty::kEstimated;
  return item;
}

CachePolicy cache_policy(const InferenceShape& shape) {
  const SessionShape& s = shape.session;
  return {.type = s.cache_type,
          .page_size = s.page_size,
          .keeps_only_windows = s.keeps_only_windows,
          .n_batch = s.n_batch,
          .is_latent_expanded = shape.is_latent_expanded};
}

// The formula's bytes; for our engine those that plan_session lays out, pages aligned.
PlanItem planned_cache_item(const ModelConfig& config, const SessionPlan& session, const InferenceShape& shape) {
  const SessionShape& s = shape.session;
  PlanItem item = cache_item(config, cache_policy(shape), s.n_ctx, s.n_sequences, shape.n_source);
  const bool is_ours = shape.engine == EngineKind::kVitro && check_runnable(config).has_value();
  if (!is_ours || session.cache_bytes == item.amount) return item;
  item.parts.push_back({.name = "alignment of pages",
                        .amount = session.cache_bytes - item.amount,
                        .formula = "pages are multiples of 64 B"});
  return sum_item("cache", std::move(item.parts), ItemKind::kCache);
}

// Of models and formats that this engine does not run, the plan is what such an engine would need: an estimate.
bool runs_here(const ModelConfig& config, const WeightsPlan& weights) {
  return weights.is_loadable && check_runnable(config).has_value();
}

void mark_estimated(PlanItem* item) {
  item->certainty = Certainty::kEstimated;
  for (PlanItem& part : item->parts) mark_estimated(&part);
}

// What is neither weights nor keys, values or activations: our engine's tables; of another the ids alone are known.
void add_tables(const ModelConfig& config, const SessionPlan& session, EngineKind engine,
                std::vector<PlanItem>* parts) {
  if (engine == EngineKind::kHalf) {
    parts->push_back(product_item("ids", {{"n_sequences", session.shape.n_sequences},
                                          {"n_ctx", session.shape.n_ctx},
                                          {"", static_cast<int64_t>(sizeof(int32_t)), " B"}}));
    return;
  }
  const std::vector<PlanItem> tables = session_table_items(session);
  parts->insert(parts->end(), tables.begin(), tables.end());
  parts->push_back({.name = "model tables", .amount = model_table_bytes(config), .formula = "specs of each layer"});
}

}  // namespace

Result<InferencePlan> plan_inference(const ModelConfig& config, const WeightsPlan& weights,
                                     const InferenceShape& shape) {
  VITRO_TRY_ASSIGN(const SessionPlan session, plan_session(config, shape.session));
  InferencePlan plan{.weights = weights};
  plan.cache_bytes_per_token = cache_bytes_per_token(config, shape.session.cache_type, shape.is_latent_expanded);
  const LargestPass pass = largest_pass(config, session, shape);
  PlanItem activations = activation_item(session, shape.engine, pass);
  plan.peak_step = step_name(pass.peak.step);
  if (!activations.parts.empty()) plan.peak_buffer = activations.parts.front().name;  // the largest comes first
  std::vector<PlanItem> parts = {weight_bytes_item(weights), planned_cache_item(config, session, shape),
                                 std::move(activations)};
  add_tables(config, session, shape.engine, &parts);
  plan.memory = sum_item("memory", std::move(parts));
  if (shape.engine == EngineKind::kVitro && !runs_here(config, weights)) mark_estimated(&plan.memory);
  VITRO_TRY(check_amounts(plan.memory, "bytes"));
  return plan;
}

int64_t AttentionMemory::tiled_bytes() const { return sat_add(output.amount, log_sum_exp.amount); }

AttentionMemory attention_memory(const AttentionSpec& attn, int64_t n, int64_t element_bytes) {
  const Factor rows{"n", n}, heads{"n_head", attn.n_head}, element{"", element_bytes, " B"};
  return {.matrix = product_item("n x n scores of a layer", {heads, rows, rows, element}),
          .output = product_item("output", {rows, heads, {"d_head_v", attn.d_head_v}, element}),
          .log_sum_exp = product_item("log-sum-exp", {rows, heads, {"", kFloatBytes, " B"}})};
}

}  // namespace vitro
