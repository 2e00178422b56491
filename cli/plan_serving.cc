#include "cli/plan_serving.h"

#include <fmt/format.h>

#include "plan/work.h"

namespace vitro {
namespace {

constexpr int64_t kHalfBytes = 2, kFloatBytes = 4;

// The two passes that an operator asks about: a prompt as a whole, and a token of every sequence behind a full context.
struct Passes {
  PassShape prefill, decode;
  PassWork prefill_work, decode_work;
};

WorkTypes work_types(const InferenceShape& shape) {
  return {.cache_type = shape.session.cache_type,
          .element_bytes = shape.engine == EngineKind::kVitro ? kFloatBytes : kHalfBytes};
}

Passes plan_passes(const PlanModel& model, const PlannedWeights& weights, const InferenceQuestion& question) {
  Passes passes;
  passes.prefill = {.n_rows = question.n_prompt, .n_source = question.shape.n_source, .has_new_source = true};
  passes.decode = {.n_rows = 1,
                   .n_past = question.shape.session.n_ctx - 1,
                   .n_sequences = question.shape.session.n_sequences,
                   .n_source = question.shape.n_source};
  const WorkTypes types = work_types(question.shape);
  passes.prefill_work = pass_work(model.config, weights.plan, passes.prefill, types);
  passes.decode_work = pass_work(model.config, weights.plan, passes.decode, types);
  return passes;
}

std::vector<PlanCell> work_row(std::string name, const PartWork& prefill, const PartWork& decode) {
  return {text_cell(std::move(name)),    flops_cell(prefill.flops),         flops_cell(prefill.flops_dense),
          bytes_cell(prefill.n_bytes()), real_cell(prefill.intensity(), 0), flops_cell(decode.flops),
          bytes_cell(decode.n_bytes()),  real_cell(decode.intensity(), 1)};
}

PlanTable work_table(const Passes& passes) {
  PlanTable table{.id = "work",
                  .title = fmt::format("A prompt of {} in one pass, then a token of {} behind {}",
                                       passes.prefill.n_rows, passes.decode.n_sequences, passes.decode.n_past),
                  .columns = {{"part", "part", true},
                              {"prefill_flops", "FLOPs"},
                              {"prefill_flops_all_pairs", "all pairs"},
                              {"prefill_bytes", "bytes"},
                              {"prefill_flops_a_byte", "FLOP/B"},
                              {"decode_flops", "| FLOPs"},
                              {"decode_bytes", "bytes"},
                              {"decode_flops_a_byte", "FLOP/B"}}};
  for (int p = 0; p < kNParts; ++p) {
    const auto part = static_cast<Part>(p);
    if (passes.prefill_work[part].n_bytes() == 0 && passes.prefill_work[part].flops == 0) continue;
    table.rows.push_back(work_row(std::string(part_name(part)), passes.prefill_work[part], passes.decode_work[part]));
  }
  table.rows.push_back(work_row("in all", passes.prefill_work.total(), passes.decode_work.total()));
  table.formulas = {"FLOPs: a multiply-add is two; 2 x rows x elements of each matrix that the rows pass",
                    "scores: 2 x n_head x (d_head + d_head_v) x pairs, a layer; pairs that the mask hides left out, or "
                    "all pairs as most papers count",
                    "bytes: weights once, keys and values read and written, activations once each"};
  return table;
}

PlanSection work_section(std::string id, std::string title, const PassWork& work) {
  return {.id = std::move(id),
          .title = std::move(title),
          .unit = PlanUnit::kFlops,
          .item = work_item(work, "FLOPs"),
          .is_on_screen = false};
}

}  // namespace

Status add_serving(const PlanModel& model, const PlannedWeights& weights, const InferencePlan& plan,
                   const InferenceQuestion& question, PlanReport* report) {
  (void)plan;
  const Passes passes = plan_passes(model, weights, question);
  report->sections.push_back(work_section("prefill", "FLOPs of the prompt", passes.prefill_work));
  report->sections.push_back(work_section("decode", "FLOPs of a token", passes.decode_work));
  report->tables.push_back(work_table(passes));
  return {};
}

}  // namespace vitro
