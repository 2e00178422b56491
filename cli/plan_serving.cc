#include "cli/plan_serving.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/human.h"
#include "base/saturating.h"
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

// The first words say which part it is, where columns are scarce: "scores", "q, k, v".
std::string short_name(std::string_view name) {
  return std::string(name.substr(0, std::min({name.find(" and "), name.find(" projection"), name.size()})));
}

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

// With times some figures have no room on a screen; JSON and explanations have them all.
std::vector<PlanColumn> work_columns(bool has_times) {
  const auto column = [](const char* id, const char* title, bool is_on_screen = true) {
    return PlanColumn{.id = id, .title = title, .is_on_screen = is_on_screen};
  };
  std::vector<PlanColumn> columns = {{"part", "part", true},
                                     column("prefill_flops", "FLOPs"),
                                     column("prefill_flops_all_pairs", "all pairs", !has_times),
                                     column("prefill_bytes", "bytes", !has_times),
                                     column("prefill_flops_a_byte", "FLOP/B")};
  if (has_times) columns.insert(columns.end(), {column("prefill_seconds", "at best"), column("prefill_bound_by", "")});
  columns.insert(columns.end(),
                 {column("decode_flops", "| FLOPs", !has_times),
                  column("decode_bytes", has_times ? "| bytes" : "bytes"), column("decode_flops_a_byte", "FLOP/B")});
  if (has_times) columns.insert(columns.end(), {column("decode_seconds", "at best"), column("decode_bound_by", "")});
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
    std::vector<PlanCell> row = {{short_name(line.name), Value(line.name)},
                                 flops_cell(line.prefill.flops),
                                 flops_cell(line.prefill.flops_dense),
                                 bytes_cell(line.prefill.n_bytes()),
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

std::vector<std::string> speed_notes(const Passes& passes, const Times& times, const PlanDevice& device) {
  const auto n = static_cast<double>(passes.decode.n_sequences);
  const auto text = [](const PassTime& pass) { return seconds_cell(pass.seconds).text; };
  const std::string_view together = passes.decode.n_sequences > 1 ? " together" : "";
  const Efficiency& usual = device.usual.efficiency;
  return {
      fmt::format("At best: first token after {}, then {} a token = {:.1f} tokens/s{}.", text(times.prefill),
                  text(times.decode), n / times.decode.seconds, together),
      fmt::format("Usually: {}, {} and {:.1f} tokens/s, at {:.0f}% of the peak and {:.0f}% of the bandwidth.",
                  text(times.usual_prefill), text(times.usual_decode), n / times.usual_decode.seconds,
                  100 * usual.compute, 100 * usual.bandwidth),
      fmt::format("The prompt is bound by {}, the token by {}: less than {:.0f} FLOP/B is memory. All pairs: {}FLOP.",
                  bound_name(times.prefill.bound), bound_name(times.decode.bound), ridge_point(device.bound),
                  decimal_text(static_cast<double>(passes.prefill_work.total().flops_dense), ""))};
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

// The memory of one device where there are several, and what there is of it.
void add_budget(const PlanModel& model, int64_t n_devices, int64_t budget, PlanReport* report) {
  const auto memory = std::find_if(report->sections.begin(), report->sections.end(),
                                   [](const PlanSection& section) { return section.id == "memory"; });
  if (n_devices == 1) {
    memory->budget = budget;
    return;
  }
  PlanSection share = *memory;
  share.id = "device_memory";
  share.title = fmt::format("Memory of each of {}", n_devices);
  share.item = device_memory(model.config, memory->item, n_devices);
  share.budget = budget;
  share.is_drawn = false;
  memory->budget = sat_mul(budget, n_devices);
  memory->is_on_screen = false;
  report->sections.insert(memory + 1, std::move(share));
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
  VITRO_TRY_ASSIGN(const std::optional<PlanDevice> device, find_plan_device(model, question.options, weights));
  std::optional<Times> times;
  VITRO_TRY(check_tensor_parallel(model.config, question.options.n_devices));
  if (device) {
    times = time_passes(model.config, passes, *device);
    report->heads.push_back(device_line(*device));
    report->roofline = roofline(passes, *times, *device);
  }
  report->tables.push_back(work_table(passes, times));
  if (times) {
    report->tables.back().notes = speed_notes(passes, *times, *device);
    report->tables.back().formulas.push_back("usually: " + device->usual.efficiency.origin);
  }
  const int64_t budget = plan_budget(question.options, device);
  if (budget == 0) return {};
  add_budget(model, question.options.n_devices, budget, report);
  VITRO_TRY_ASSIGN(PlanTable fits, fits_table(model, weights, question, budget));
  report->tables.push_back(std::move(fits));
  VITRO_TRY_ASSIGN(PlanTable formats, formats_table(model, weights, question, device, budget));
  report->tables.push_back(std::move(formats));
  return {};
}

}  // namespace vitro
