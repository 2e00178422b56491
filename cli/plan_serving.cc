#include "cli/plan_serving.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/human.h"
#include "cli/plan_device.h"
#include "cli/plan_fits.h"

namespace vitro {
namespace {

constexpr int64_t kHalfBytes = 2, kFloatBytes = 4;

// The two passes that an operator asks about: a prompt as a whole, and a token of every sequence behind a full context.
struct Passes {
  PassShape prefill, decode;
  PassWork prefill_work, decode_work;
};

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

// Times of the two passes on a device, at best and as usual.
struct Times {
  PassTime prefill, decode, usual_prefill, usual_decode;
};

Times time_passes(const ModelConfig& config, const Passes& passes, const PlanDevice& device) {
  return {time_pass(config, passes.prefill_work, passes.prefill, device.bound),
          time_pass(config, passes.decode_work, passes.decode, device.bound),
          time_pass(config, passes.prefill_work, passes.prefill, device.usual),
          time_pass(config, passes.decode_work, passes.decode, device.usual)};
}

// ---- the table of parts ----

struct PartLine {
  std::string name;
  PartWork prefill, decode;
};

std::vector<PartLine> part_lines(const Passes& passes) {
  std::vector<PartLine> lines;
  for (int p = 0; p < kNParts; ++p) {
    const auto part = static_cast<Part>(p);
    if (passes.prefill_work[part].flops == 0 && passes.decode_work[part].flops == 0) continue;
    lines.push_back({std::string(part_name(part)), passes.prefill_work[part], passes.decode_work[part]});
  }
  lines.push_back({"in all", passes.prefill_work.total(), passes.decode_work.total()});
  return lines;
}

std::vector<PlanColumn> work_columns(bool has_times) {
  std::vector<PlanColumn> columns = {{"part", "part", true},
                                     {"prefill_flops", "FLOPs"},
                                     {"prefill_flops_all_pairs", "all pairs"},
                                     {"prefill_bytes", "bytes"},
                                     {"prefill_flops_a_byte", "FLOP/B"}};
  const std::vector<PlanColumn> decode = {
      {"decode_flops", "| FLOPs"}, {"decode_bytes", "bytes"}, {"decode_flops_a_byte", "FLOP/B"}};
  if (has_times) {
    columns[3].is_on_screen = false;
    columns.push_back({"prefill_seconds", "at best"});
    columns.push_back({"prefill_bound_by", "", false});
  }
  columns.insert(columns.end(), decode.begin(), decode.end());
  if (has_times) {
    columns[7].is_on_screen = false;
    columns[8].title = "| bytes";
    columns.push_back({"decode_seconds", "at best"});
    columns.push_back({"decode_bound_by", "", false});
  }
  return columns;
}

PlanCell bound_cell(BoundBy bound) {
  const std::string_view name = bound_name(bound);
  return {std::string(name.substr(0, 1)), Value(std::string(name))};
}

void add_time_cells(double seconds, BoundBy bound, std::vector<PlanCell>* row) {
  row->push_back(seconds_cell(seconds));
  row->push_back(bound_cell(bound));
}

PlanTable work_table(const Passes& passes, const std::optional<Times>& times) {
  PlanTable table{
      .id = "work",
      .title = fmt::format("A prompt of {} in one pass | a token of {} behind {}", human_count(passes.prefill.n_rows),
                           human_count(passes.decode.n_sequences), human_count(passes.decode.n_past)),
      .columns = work_columns(times.has_value())};
  const std::vector<PartLine> lines = part_lines(passes);
  size_t part = 0;
  for (const PartLine& line : lines) {
    const bool is_total = &line == &lines.back();
    while (!is_total && part_name(static_cast<Part>(part)) != line.name) ++part;
    std::vector<PlanCell> row = {text_cell(line.name), flops_cell(line.prefill.flops),
                                 flops_cell(line.prefill.flops_dense), bytes_cell(line.prefill.n_bytes()),
                                 real_cell(line.prefill.intensity(), 0)};
    const auto add_times = [&](const PassTime& pass) {
      add_time_cells(is_total ? pass.seconds : pass.parts[part].seconds, is_total ? pass.bound : pass.parts[part].bound,
                     &row);
    };
    if (times) add_times(times->prefill);
    row.insert(row.end(), {flops_cell(line.decode.flops), bytes_cell(line.decode.n_bytes()),
                           real_cell(line.decode.intensity(), 1)});
    if (times) add_times(times->decode);
    table.rows.push_back(std::move(row));
  }
  table.formulas = {"FLOPs: a multiply-add is two; 2 x rows x elements of each matrix that the rows pass",
                    "scores: 2 x n_head x (d_head + d_head_v) x pairs, a layer; pairs that the mask hides left out, or "
                    "all pairs as most papers count",
                    "bytes: weights once, keys and values read and written, activations once each"};
  if (times) table.formulas.emplace_back("at best: max(FLOPs / peak, bytes / bandwidth), c or m says which");
  return table;
}

// ---- what an operator asks ----

std::string speed_note(const Passes& passes, const Times& times, const PlanDevice& device) {
  const auto n = static_cast<double>(passes.decode.n_sequences);
  const auto rate = [&](const PassTime& pass) { return n / pass.seconds; };
  std::string note =
      fmt::format("First token after {}: {} at best, {} usually; then {} a token at best, {} usually: ",
                  human_count(passes.prefill.n_rows), seconds_cell(times.prefill.seconds).text,
                  seconds_cell(times.usual_prefill.seconds).text, seconds_cell(times.decode.seconds).text,
                  seconds_cell(times.usual_decode.seconds).text);
  note += fmt::format("{:.1f} tokens/s at best, {:.1f} usually", rate(times.decode), rate(times.usual_decode));
  if (passes.decode.n_sequences > 1) note += ", all users together";
  return note + fmt::format(". Bound by {} and by {}; the ridge is at {:.0f} FLOP/B.", bound_name(times.prefill.bound),
                            bound_name(times.decode.bound), ridge_point(device.bound));
}

void add_points(std::string_view pass_name, const PassWork& work, const PassTime& time, RooflinePlot* plot) {
  for (int p = 0; p < kNParts; ++p) {
    const auto part = static_cast<Part>(p);
    if (work[part].flops == 0 || time[part].seconds <= 0) continue;
    plot->points.push_back({fmt::format("{} {}", pass_name, part_name(part)), work[part].intensity(),
                            static_cast<double>(work[part].flops) / time[part].seconds});
  }
}

RooflinePlot roofline(const Passes& passes, const Times& times, const PlanDevice& device) {
  const Device& d = device.bound.device;
  const auto n = static_cast<double>(device.bound.n_devices);
  RooflinePlot plot{.title = fmt::format("Roofline of {}{}", n > 1 ? fmt::format("{:.0f} x ", n) : "", d.title),
                    .peak = n * d.peak(device.bound.compute).value,
                    .bandwidth = n * d.bandwidth.value};
  add_points("prompt", passes.prefill_work, times.prefill, &plot);
  add_points("token", passes.decode_work, times.decode, &plot);
  return plot;
}

// How full each device gets.
Status add_budget(const PlanModel& model, const PlannedWeights& weights, const InferenceQuestion& question,
                  int64_t budget, PlanReport* report) {
  const auto memory = std::find_if(report->sections.begin(), report->sections.end(),
                                   [](const PlanSection& section) { return section.id == "memory"; });
  const int64_t n_devices = question.options.n_devices;
  if (n_devices == 1) {
    memory->budget = budget;
    return {};
  }
  VITRO_TRY_ASSIGN(const int64_t n_bytes, device_plan_bytes(model.config, weights.plan, question.shape, n_devices));
  memory->note =
      fmt::format("Each of {} devices holds {} of {}{}: weights and heads are split. {}", n_devices,
                  decimal_text(static_cast<double>(n_bytes), "B"), decimal_text(static_cast<double>(budget), "B"),
                  n_bytes > budget ? ", WHICH DOES NOT FIT" : "", memory->note);
  return {};
}

PlanSection work_section(std::string id, std::string title, const PassWork& work) {
  return {.id = std::move(id),
          .title = std::move(title),
          .unit = PlanUnit::kFlops,
          .item = work_item(work, "FLOPs"),
          .is_on_screen = false};
}

}  // namespace

WorkTypes work_types(const InferenceShape& shape) {
  return {.cache_type = shape.session.cache_type,
          .element_bytes = shape.engine == EngineKind::kVitro ? kFloatBytes : kHalfBytes};
}

Status add_serving(const PlanModel& model, const PlannedWeights& weights, const InferenceQuestion& question,
                   PlanReport* report) {
  const Passes passes = plan_passes(model, weights, question);
  report->sections.push_back(work_section("prefill", "FLOPs of the prompt", passes.prefill_work));
  report->sections.push_back(work_section("decode", "FLOPs of a token", passes.decode_work));
  VITRO_TRY_ASSIGN(const std::optional<PlanDevice> device, find_plan_device(question.options, weights.matrix_type));
  std::optional<Times> times;
  if (device) {
    times = time_passes(model.config, passes, *device);
    report->heads.push_back(device_line(*device));
    report->roofline = roofline(passes, *times, *device);
  }
  report->tables.push_back(work_table(passes, times));
  if (times) report->tables.back().notes.push_back(speed_note(passes, *times, *device));
  const int64_t budget = plan_budget(question.options, device);
  if (budget == 0) return {};
  VITRO_TRY(add_budget(model, weights, question, budget, report));
  VITRO_TRY_ASSIGN(PlanTable fits, fits_table(model, weights, question, budget));
  report->tables.push_back(std::move(fits));
  VITRO_TRY_ASSIGN(PlanTable formats, formats_table(model, weights, question, device, budget));
  report->tables.push_back(std::move(formats));
  return {};
}

}  // namespace vitro
