#include "cli/plan_lengths.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/human.h"
#include "base/saturating.h"
#include "plan/inference_plan.h"
#include "plan/work.h"

namespace vitro {
namespace {

constexpr int64_t kHalfBytes = 2;
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
    const PlanItem naive = naive_attention_item(attn, n, kHalfBytes);
    const PlanItem tiled = tiled_attention_item(attn, n, kHalfBytes);
    const auto part = [&](std::string_view name) {
      const PlanItem* item = find_item(tiled, name);
      return item ? item->amount : 0;
    };
    const double times = static_cast<double>(naive.amount) / static_cast<double>(std::max<int64_t>(tiled.amount, 1));
    table.rows.push_back({count_cell(n),
                          binary_cell(naive.amount),
                          binary_cell(part("output")),
                          binary_cell(part("log-sum-exp")),
                          {fmt::format("{:.0f} x", times), Value(times)}});
    if (table.formulas.empty()) {
      table.formulas = {fmt::format("n x n matrix = {} = {}", naive.formula, naive.arithmetic),
                        fmt::format("output = {}", find_item(tiled, "output")->arithmetic),
                        fmt::format("log-sum-exp = {}", find_item(tiled, "log-sum-exp")->arithmetic)};
    }
  }
  table.notes = {"Twice the n, four times the matrix, but in tiles (FlashAttention) twice the output."};
  return table;
}

// ---- FLOPs ----

PassWork work_of_length(const PlanModel& model, const WeightsPlan& weights, int64_t n) {
  const int64_t n_source = model.config.kind == ModelKind::kEncoderDecoder ? n : 0;
  return pass_work(model.config, weights, {.n_rows = n, .n_source = n_source, .has_new_source = true}, {});
}

int64_t projection_flops(const PassWork& work) { return sat_add(work[Part::kQkv].flops, work[Part::kAttnOut].flops); }

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
    const PassWork work = work_of_length(model, weights, n);
    const int64_t projections = projection_flops(work), ffn = work[Part::kFfn].flops;
    const auto attention = static_cast<double>(sat_add(projections, work[Part::kScores].flops_dense));
    const double share = attention / (attention + static_cast<double>(std::max<int64_t>(ffn, 1)));
    table.rows.push_back({count_cell(n),
                          flops_cell(projections / n_layer),
                          flops_cell(work[Part::kScores].flops_dense / n_layer),
                          flops_cell(work[Part::kScores].flops / n_layer),
                          flops_cell(ffn / n_layer),
                          {fmt::format("{:.1f}%", 100 * share), Value(share)}});
  }
  table.formulas = {"a multiply-add is two; projections: q, k, v and the output; attention: projections and all pairs"};
  return table;
}

// The shortest text of which `is_passed` holds, up to 2^24 positions; 0: none. It must go on holding.
template <class Passed>
int64_t first_length(const Passed& is_passed) {
  int64_t above = 1;
  while (!is_passed(above)) {
    if (above >= int64_t{1} << 24) return 0;
    above *= 2;
  }
  int64_t below = above / 2;  // not passed, or 0
  while (above - below > 1) {
    const int64_t middle = below + (above - below) / 2;
    (is_passed(middle) ? above : below) = middle;
  }
  return above;
}

std::string length_words(int64_t n) { return n > 0 ? human_count(n) : "no length"; }

std::string crossover_note(const PlanModel& model, const WeightsPlan& weights) {
  const auto passes = [&](bool has_projections, bool is_masked) {
    return first_length([&](int64_t n) {
      const PassWork work = work_of_length(model, weights, n);
      const int64_t scores = is_masked ? work[Part::kScores].flops : work[Part::kScores].flops_dense;
      return sat_add(scores, has_projections ? projection_flops(work) : 0) >= work[Part::kFfn].flops;
    });
  };
  return fmt::format(
      "Scores and weighted sums pass the feed-forward part at {} positions (masked: {}), attention with its "
      "projections "
      "at {} (masked: {}).",
      length_words(passes(false, false)), length_words(passes(false, true)), length_words(passes(true, false)),
      length_words(passes(true, true)));
}

}  // namespace

void add_lengths(const PlanModel& model, const WeightsPlan& weights, PlanReport* report) {
  report->tables.push_back(naive_table(model.config));
  report->tables.push_back(flops_table(model, weights));
  report->tables.back().notes.push_back(crossover_note(model, weights));
}

}  // namespace vitro
