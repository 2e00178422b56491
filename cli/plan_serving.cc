#include "cli/plan_serving.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/human.h"
#include "base/saturating.h"
#include "cli/plan_device.h"
#include "cli/plan_fits.h"
#include "plan/element_bytes.h"

namespace vitro {
namespace {

// The two passes that an operator asks about: a prompt as a whole, and a token of every sequence behind a full context.
struct Passes {
  Serving serving;
  bool has_decode = true;  ///< encoders make no tokens
  PassShape prefill;
  PassWork prefill_work, decode_work;
};

Passes plan_passes(const PlanModel& model, const PlannedWeights& weights, const InferenceQuestion& question) {
  const WorkOf work = work_of(model, weights, question.shape);
  Passes passes{.serving = serving_of(question, question.shape.session.n_sequences),
                .has_decode = model.config.kind != ModelKind::kEncoder};
  const Serving& s = passes.serving;
  passes.prefill = {.n_rows = s.n_prompt, .n_source = s.n_source, .has_new_source = s.n_source > 0};
  passes.prefill_work = work(passes.prefill);
  if (passes.has_decode) {
    passes.decode_work = work({.n_past = s.n_past, .n_sequences = s.n_sequences, .n_source = s.n_source});
  }
  return passes;
}

// On a device, at best and as usual.
struct Times {
  ServingTimes best, usual;
};

// Of an encoder the pass over its text alone.
Result<ServingTimes> pass_times(const ModelConfig& config, const Passes& passes, const WorkOf& work,
                                const Machine& machine) {
  if (passes.has_decode) return serving_times(config, work, passes.serving, machine);
  return ServingTimes{.prefill = time_pass(config, passes.prefill_work, passes.prefill, machine)};
}

Result<Times> find_times(const ModelConfig& config, const Passes& passes, const WorkOf& work,
                         const PlanDevice& device) {
  VITRO_TRY_ASSIGN(ServingTimes best, pass_times(config, passes, work, device.bound));
  VITRO_TRY_ASSIGN(ServingTimes usual, pass_times(config, passes, work, device.usual));
  return Times{std::move(best), std::move(usual)};
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
std::vector<PlanColumn> work_columns(bool has_times, bool has_decode) {
  const auto column = [](const char* id, const char* title, bool is_on_screen = true) {
    return PlanColumn{.id = id, .title = title, .is_on_screen = is_on_screen};
  };
  std::vector<PlanColumn> columns = {{"part", "part", true},
                                     column("prefill_flops", "FLOPs"),
                                     column("prefill_flops_all_pairs", "all pairs", !has_times),
                                     column("prefill_bytes", "bytes", !has_times),
                                     column("prefill_flops_a_byte", "FLOP/B")};
  if (has_times) columns.insert(columns.end(), {column("prefill_seconds", "at best"), column("prefill_bound_by", "")});
  if (!has_decode) return columns;
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

std::string work_title(const Passes& passes) {
  const Serving& s = passes.serving;
  if (!passes.has_decode) return fmt::format("A text of {} in one pass", human_count(s.n_prompt));
  return fmt::format("A prompt of {} in one pass | a token of {} behind {}", human_count(s.n_prompt),
                     human_count(s.n_sequences), human_count(s.n_past));
}

PlanTable work_table(const Passes& passes, const std::optional<Times>& times) {
  PlanTable table{
      .id = "work", .title = work_title(passes), .columns = work_columns(times.has_value(), passes.has_decode)};
  const std::vector<PartLine> lines = part_lines(passes);
  size_t part = 0;
  for (const PartLine& line : lines) {
    const bool is_total = &line == &lines.back();
    while (!is_total && part_name(static_cast<Part>(part)) != line.name) ++part;
    const auto add_times = [&](const PassTime& pass, std::vector<PlanCell>* row) {
      add_time_cells(is_total ? pass.seconds : pass.parts[part].seconds, is_total ? pass.bound : pass.parts[part].bound,
                     row);
    };
    std::vector<PlanCell> row = {{short_name(line.name), Value(line.name)},
                                 flops_cell(line.prefill.flops),
                                 flops_cell(line.prefill.flops_dense),
                                 bytes_cell(line.prefill.n_bytes()),
                                 real_cell(line.prefill.intensity(), 0)};
    if (times) add_times(times->best.prefill, &row);
    if (passes.has_decode) {
      row.insert(row.end(), {flops_cell(line.decode.flops), bytes_cell(line.decode.n_bytes()),
                             real_cell(line.decode.intensity(), 1)});
      if (times) add_times(times->best.decode, &row);
    }
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

std::string speed_words(const ServingTimes& times, bool has_decode) {
  const std::string first = seconds_cell(times.prefill.seconds).text;
  if (!has_decode) return fmt::format("{} a text", first);
  return fmt::format("first token after {}, then {} a token = {:.1f} tokens/s", first,
                     seconds_cell(times.decode.seconds).text, times.tokens_per_s);
}

std::string bound_words(const Passes& passes, const ServingTimes& best) {
  if (!passes.has_decode) return fmt::format("The pass is bound by {}", bound_name(best.prefill.bound));
  return fmt::format("The prompt is bound by {}, the token by {}", bound_name(best.prefill.bound),
                     bound_name(best.decode.bound));
}

std::vector<std::string> speed_notes(const Passes& passes, const Times& times, const PlanDevice& device) {
  const Efficiency& usual = device.usual.efficiency;
  const std::string_view together = passes.has_decode && passes.serving.n_sequences > 1 ? " together" : "";
  return {fmt::format("At best: {}{}.", speed_words(times.best, passes.has_decode), together),
          fmt::format("Usually: {}, at {:.0f}% of the peak and {:.0f}% of the bandwidth.",
                      speed_words(times.usual, passes.has_decode), 100 * usual.compute, 100 * usual.bandwidth),
          fmt::format("{}: less than {:.0f} FLOP/B is memory. All pairs: {}FLOP.", bound_words(passes, times.best),
                      ridge_point(device.bound),
                      decimal_text(static_cast<double>(passes.prefill_work.total().flops_dense), ""))};
}

// How many experts a token reads depends on how many tokens are made together.
void add_experts(const ModelConfig& config, PlanReport* report) {
  const std::optional<ExpertTraffic> experts = expert_traffic(config);
  if (!experts) return;
  report->figures.emplace_back("experts", Value(experts->n_expert));
  report->figures.emplace_back("experts_of_1", Value(experts->of_1));
  report->figures.emplace_back("experts_of_8", Value(experts->of_8));
  report->figures.emplace_back("experts_of_64", Value(experts->of_64));
  report->tables.back().notes.push_back(
      fmt::format("Experts that tokens of 1, 8, 64 users read a layer: {}, {:.1f}, {:.1f} of {}.", experts->of_1,
                  experts->of_8, experts->of_64, experts->n_expert));
}

// The users from which on a token is bound by its arithmetic; scores aside.
void add_crossover(const ModelConfig& config, const WorkOf& work, const Machine& machine, PlanReport* report) {
  const std::optional<int64_t> users = crossover_batch(config, work, machine);
  report->figures.emplace_back("crossover_users", users ? Value(*users) : Value());
  if (!users) return;
  report->tables.back().notes.push_back(
      fmt::format("From {} on, multiplying takes longer than reading the weights.", plural(*users, "user")));
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
  add_points("prompt", passes.prefill_work, times.best.prefill, &plot);
  add_points("token", passes.decode_work, times.best.decode, &plot);
  return plot;
}

// The memory of one device where there are several, and what there is of it.
void add_budget(const PlanModel& model, const InferenceQuestion& question, int64_t budget, PlanReport* report) {
  const int64_t n_devices = question.options.n_devices;
  const auto memory = std::find_if(report->sections.begin(), report->sections.end(),
                                   [](const PlanSection& section) { return section.id == "memory"; });
  if (n_devices == 1) {
    memory->budget = budget;
    return;
  }
  PlanSection share = *memory;
  share.id = "device_memory";
  share.title = fmt::format("Memory of each of {}", n_devices);
  share.item = device_memory(model.config, memory->item, n_devices, question.shape.is_latent_expanded);
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
          .element_bytes = shape.engine == EngineKind::kVitro ? kFloatBytes : kHalfBytes,
          .is_latent_expanded = shape.is_latent_expanded};
}

WorkOf work_of(const PlanModel& model, const PlannedWeights& weights, const InferenceShape& shape) {
  return [&model, &weights, types = work_types(shape)](const PassShape& pass) {
    return pass_work(model.config, weights.plan, pass, types);
  };
}

Serving serving_of(const InferenceQuestion& question, int64_t n_sequences) {
  return {.n_prompt = question.n_prompt,
          .n_past = question.shape.session.n_ctx - 1,
          .n_sequences = n_sequences,
          .n_source = question.shape.n_source};
}

Status add_serving(const PlanModel& model, const PlannedWeights& weights, const InferenceQuestion& question,
                   PlanReport* report) {
  const Passes passes = plan_passes(model, weights, question);
  report->sections.push_back(work_section("prefill", "FLOPs of the prompt", passes.prefill_work));
  if (passes.has_decode) report->sections.push_back(work_section("decode", "FLOPs of a token", passes.decode_work));
  VITRO_TRY_ASSIGN(const std::optional<PlanDevice> device, find_plan_device(model, question.options, weights));
  VITRO_TRY(check_tensor_parallel(model.config, question.options.n_devices));
  std::optional<Times> times;
  if (device) add_device_lines(*device, report);
  if (device && device->can_time()) {
    VITRO_TRY_ASSIGN(times, find_times(model.config, passes, work_of(model, weights, question.shape), *device));
    report->roofline = roofline(passes, *times, *device);
  }
  report->tables.push_back(work_table(passes, times));
  if (times) {
    report->tables.back().notes = speed_notes(passes, *times, *device);
    report->tables.back().formulas.push_back("usually: " + device->usual.efficiency.origin);
    if (passes.has_decode) {
      add_crossover(model.config, work_of(model, weights, question.shape), device->bound, report);
    }
  }
  add_experts(model.config, report);
  const int64_t budget = plan_budget(question.options, device);
  if (budget == 0) return {};
  add_budget(model, question, budget, report);
  VITRO_TRY_ASSIGN(PlanTable fits, fits_table(model, weights, question, device, budget));
  report->tables.push_back(std::move(fits));
  VITRO_TRY_ASSIGN(PlanTable formats, formats_table(model, weights, question, device, budget));
  report->tables.push_back(std::move(formats));
  return {};
}

}  // namespace vitro
