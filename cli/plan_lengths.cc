#include "cli/plan_lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/human.h"
#include "base/saturating.h"
#include "plan/element_bytes.h"
#include "plan/inference_plan.h"
#include "plan/text_lengths.h"

namespace vitro {
namespace {

constexpr int64_t kFirst = 1024, kLast = 32768;

// ---- memory ----

const AttentionSpec& widest_attention(const ModelConfig& config) {
  const auto by_heads = [](const BlockSpec& a, const BlockSpec& b) { return a.attn.n_head < b.attn.n_head; };
  return std::max_element(config.blocks.begin(), config.blocks.end(), by_heads)->attn;
}

PlanTable naive_table(const ModelConfig& config) {
  const AttentionSpec& attn = widest_attention(config);
  PlanTable table{.id = "attention_matrix",
                  .title = fmt::format("Attention of one layer and sequence, {}, 16 bits", plural(attn.n_head, "head")),
                  .columns = {{"n", "n"},
                              {"matrix_bytes", "n x n matrix"},
                              {"output_bytes", "in tiles: output"},
                              {"log_sum_exp_bytes", "log-sum-exp"},
                              {"times", "less memory"}}};
  for (int64_t n = kFirst; n <= kLast; n *= 2) {
    const AttentionMemory memory = attention_memory(attn, n, kHalfBytes);
    const double times =
        static_cast<double>(memory.matrix.amount) / static_cast<double>(std::max<int64_t>(memory.tiled_bytes(), 1));
    table.rows.push_back({count_cell(n),
                          binary_cell(memory.matrix.amount),
                          binary_cell(memory.output.amount),
                          binary_cell(memory.log_sum_exp.amount),
                          {fmt::format("{:.0f} x", times), Value(times)}});
    if (table.formulas.empty()) {
      table.formulas = {fmt::format("n x n matrix = {} = {}", memory.matrix.formula, memory.matrix.arithmetic),
                        fmt::format("output = {}", memory.output.arithmetic),
                        fmt::format("log-sum-exp = {}", memory.log_sum_exp.arithmetic)};
    }
  }
  table.notes = {"Twice the n, four times the matrix, but in tiles (FlashAttention) twice the output."};
  return table;
}

// ---- FLOPs ----

PlanTable flops_table(const PlanModel& model, const WeightsPlan& weights) {
  const int64_t n_layer = model.config.n_layer();
  PlanTable table{.id = "flops_by_length",
                  .title = fmt::format("FLOPs of a layer (mean of {}) over a whole text", n_layer),
                  .columns = {{"n", "n"},
                              {"projections", "projections"},
                              {"scores_all_pairs", "scores, all"},
                              {"scores_masked", "masked"},
                              {"feed_forward", "feed-forward"},
                              {"share", "attention"}}};
  for (int64_t n = kFirst; n <= kLast; n *= 2) {
    const TextFlops flops = text_flops(model.config, weights, n);
    const auto attention = static_cast<double>(sat_add(flops.projections, flops.all_pairs));
    const double share = attention / (attention + static_cast<double>(std::max<int64_t>(flops.feed_forward, 1)));
    table.rows.push_back({count_cell(n),
                          flops_cell(flops.projections / n_layer),
                          flops_cell(flops.all_pairs / n_layer),
                          flops_cell(flops.masked / n_layer),
                          flops_cell(flops.feed_forward / n_layer),
                          {fmt::format("{:.1f}%", 100 * share), Value(share)}});
  }
  table.formulas = {"a multiply-add is two; projections: q, k, v and the output; attention: projections and all pairs"};
  return table;
}

std::string length_words(std::optional<int64_t> n) { return n ? human_count(*n) : "no length"; }

std::string crossover_note(const PlanModel& model, const WeightsPlan& weights) {
  const AttentionCrossovers at = attention_crossovers(model.config, weights);
  return fmt::format(
      "Scores and weighted sums pass the feed-forward part at {} positions (masked: {}), attention with its "
      "projections at {} (masked: {}).",
      length_words(at.all_pairs), length_words(at.masked), length_words(at.all_pairs_with_projections),
      length_words(at.masked_with_projections));
}

}  // namespace

void add_lengths(const PlanModel& model, const WeightsPlan& weights, PlanReport* report) {
  report->tables.push_back(naive_table(model.config));
  report->tables.push_back(flops_table(model, weights));
  report->tables.back().notes.push_back(crossover_note(model, weights));
}

}  // namespace vitro
