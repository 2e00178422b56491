#include "cli/plan_fits.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/human.h"
#include "cli/plan_serving.h"
#include "plan/fit.h"
#include "plan/tensor_parallel.h"

namespace vitro {
namespace {

// What a search varies.
enum class Varied : uint8_t { kContext, kSequences };

// A source of its own length stays; else it is as long as the context.
FitQuestion fit_question(const PlanModel& model, const InferenceQuestion& question) {
  const bool has_source = model.config.kind == ModelKind::kEncoderDecoder;
  return {.shape = question.shape,
          .n_devices = question.options.n_devices,
          .has_source_like_context = has_source && question.options.n_source == 0};
}

std::string_view limit_words(const Fit& fit, Varied varied) {
  if (fit.n == 0) return "does not fit";
  if (fit.limit != FitLimit::kLimit) return "memory";
  return varied == Varied::kContext ? "positions" : "none found";
}

std::vector<PlanCell> fit_row(std::string question, const Fit& fit, Varied varied) {
  return {text_cell(std::move(question)), count_cell(fit.n), fit.n > 0 ? bytes_cell(fit.n_bytes) : no_cell(),
          fit.next_bytes > 0 ? bytes_cell(fit.next_bytes) : no_cell(),
          text_cell(std::string(limit_words(fit, varied)))};
}

bool keeps_cache(const ModelConfig& config) { return config.kind != ModelKind::kEncoder; }

// ---- types of the weights ----

// From the widest on, as people run them here and on devices.
std::vector<WeightFormat> formats_of(const std::vector<std::string_view>& names) {
  std::vector<WeightFormat> formats;
  for (const std::string_view name : names) formats.push_back(parse_weight_format(name).value());
  return formats;
}

std::vector<WeightFormat> formats_beside(const PlannedWeights& weights, const PlanOptions& options,
                                         const std::optional<PlanDevice>& device) {
  std::vector<WeightFormat> formats = options.other_weights;
  if (formats.empty()) {
    formats = device ? formats_of({"bf16", "fp8", "int4"}) : formats_of({"bf16", "q8_0", "q4_k"});
  }
  std::erase_if(formats, [&](const WeightFormat& format) { return format_name(format) == weights.matrix_type; });
  return formats;
}

// The widest type with which the question fits; "one more" are the bytes of the next wider one.
Result<std::vector<PlanCell>> best_weights_row(const PlanModel& model, const InferenceQuestion& question,
                                               const std::optional<PlanDevice>& device, int64_t budget) {
  const SessionShape& s = question.shape.session;
  const std::string name = fmt::format("best weights, {} of {}", plural(s.n_sequences, "user"), human_count(s.n_ctx));
  const auto weights_in = [&](const WeightFormat& format) {
    return planned_weights(model, question.options, format, question.shape.engine).plan;
  };
  const std::vector<WeightFormat> formats = device ? formats_of({"bf16", "fp8", "int4"}) : usual_formats();
  VITRO_TRY_ASSIGN(const std::vector<FormatFit> fits,
                   fit_formats(model.config, weights_in, fit_question(model, question), formats, budget));
  const auto best = std::find_if(fits.begin(), fits.end(), [](const FormatFit& fit) { return fit.fits; });
  const PlanCell wider = best == fits.begin() ? no_cell() : bytes_cell((best - 1)->n_bytes);
  if (best == fits.end()) {
    return std::vector<PlanCell>{text_cell(name), no_cell(), no_cell(), wider, text_cell("does not fit")};
  }
  return std::vector<PlanCell>{text_cell(name), text_cell(format_name(best->format)), bytes_cell(best->n_bytes), wider,
                               text_cell(best == fits.begin() ? "widest" : "memory")};
}

struct FormatRow {
  const PlanModel& model;
  const InferenceQuestion& question;
  const std::optional<PlanDevice>& device;
  int64_t budget = 0;

  bool has_times() const { return device && keeps_cache(model.config) && device->can_time(); }
  Result<std::vector<PlanCell>> cells(const PlannedWeights& weights) const;

 private:
  Result<ServingTimes> times(const PlannedWeights& weights, int64_t n_sequences) const {
    VITRO_TRY_ASSIGN(const Machine machine, usual_machine(*device, model, question.options, weights.matrix_type));
    return serving_times(model.config, work_of(model, weights, question.shape), serving_of(question, n_sequences),
                         machine);
  }
};

Result<std::vector<PlanCell>> FormatRow::cells(const PlannedWeights& weights) const {
  VITRO_TRY_ASSIGN(const Fit users, fit_sequences(model.config, weights.plan, fit_question(model, question), budget));
  InferenceQuestion alone = question;
  alone.shape.session.n_sequences = 1;
  VITRO_TRY_ASSIGN(const Fit context, fit_context(model.config, weights.plan, fit_question(model, alone), budget));
  std::vector<PlanCell> row = {text_cell(weights.matrix_type), bytes_cell(weights.plan.total().n_bytes),
                               count_cell(users.n), count_cell(context.n)};
  if (!has_times()) return row;
  const Result<ServingTimes> one_times = users.n > 0 ? times(weights, 1) : fail(ErrorCode::kNotFound, "does not fit");
  if (!one_times) {
    row.insert(row.end(), 4, no_cell());
    return row;
  }
  const ServingTimes& one = *one_times;
  VITRO_TRY_ASSIGN(const ServingTimes all, times(weights, users.n));
  row.push_back(seconds_cell(one.prefill.seconds));
  row.push_back(real_cell(one.tokens_per_s, 1));
  row.push_back(real_cell(all.tokens_per_s, 0));
  row.push_back(text_cell(std::string(bound_name(all.decode.bound))));
  return row;
}

// As certain as the plans that are searched.
Result<Certainty> plan_certainty(const PlanModel& model, const PlannedWeights& weights,
                                 const InferenceQuestion& question) {
  VITRO_TRY_ASSIGN(const InferencePlan plan, plan_inference(model.config, weights.plan, question.shape));
  return device_memory(model.config, plan.memory, question.options.n_devices, question.shape.is_latent_expanded)
      .certainty;
}

}  // namespace

int64_t plan_budget(const PlanOptions& options, const std::optional<PlanDevice>& device) {
  if (options.budget > 0) return options.budget;
  return device ? device->n_bytes() : 0;
}

Result<PlanTable> fits_table(const PlanModel& model, const PlannedWeights& weights, const InferenceQuestion& question,
                             const std::optional<PlanDevice>& device, int64_t budget) {
  const int64_t n_devices = question.options.n_devices;
  const std::string where = n_devices > 1 ? fmt::format(" on each of {}", n_devices) : "";
  const SessionShape& s = question.shape.session;
  const std::string users = plural(s.n_sequences, "user");
  VITRO_TRY_ASSIGN(const Certainty certainty, plan_certainty(model, weights, question));
  PlanTable table{.id = "fits",
                  .title = fmt::format("What fits into {}{}", decimal_text(static_cast<double>(budget), "B"), where),
                  .certainty = certainty,
                  .columns = {{"question", "", true},
                              {"answer", "answer"},
                              {"bytes", "bytes"},
                              {"next_bytes", "one more"},
                              {"limit", "limit", true}}};
  const FitQuestion asked = fit_question(model, question);
  VITRO_TRY_ASSIGN(const Fit context, fit_context(model.config, weights.plan, asked, budget));
  VITRO_TRY_ASSIGN(const Fit most, fit_sequences(model.config, weights.plan, asked, budget));
  table.rows.push_back(fit_row(fmt::format("longest context, {}", users), context, Varied::kContext));
  if (keeps_cache(model.config)) {
    VITRO_TRY_ASSIGN(const Fit bare, fit_bare_context(model.config, weights.plan, asked, budget));
    table.rows.push_back(fit_row("the same, weights and cache alone", bare, Varied::kContext));
  }
  table.rows.push_back(
      fit_row(fmt::format("most users, contexts of {}", human_count(s.n_ctx)), most, Varied::kSequences));
  VITRO_TRY_ASSIGN(std::vector<PlanCell> best, best_weights_row(model, question, device, budget));
  table.rows.push_back(std::move(best));
  if (question.options.budget == 0 && n_devices == 1) {
    VITRO_TRY_ASSIGN(const DeviceFit fewest, fit_devices(model.config, weights.plan, question.shape, budget));
    table.rows.push_back({text_cell("fewest devices (a power of two)"),
                          fewest.n_devices ? count_cell(*fewest.n_devices) : no_cell(), bytes_cell(fewest.n_bytes),
                          fewest.fewer_bytes > 0 ? bytes_cell(fewest.fewer_bytes) : no_cell(), text_cell("memory")});
  }
  table.formulas = {"found by search over the plan itself: it fits with the answer, and not with one more"};
  return table;
}

Result<PlanTable> formats_table(const PlanModel& model, const PlannedWeights& weights,
                                const InferenceQuestion& question, const std::optional<PlanDevice>& device,
                                int64_t budget) {
  VITRO_TRY_ASSIGN(const Certainty certainty, plan_certainty(model, weights, question));
  PlanTable table{
      .id = "weight_formats",
      .title = fmt::format("Other weights, contexts of {}", human_count(question.shape.session.n_ctx)),
      .certainty = device ? std::max(certainty, device->usual.efficiency.certainty) : certainty,
      .columns = {{"weights", "weights", true}, {"bytes", "bytes"}, {"users", "users"}, {"context", "longest"}}};
  const FormatRow row{model, question, device, budget};
  if (row.has_times()) {
    table.columns.insert(table.columns.end(), {{"first_token_seconds", "first token"},
                                               {"tokens_per_second_alone", "t/s alone"},
                                               {"tokens_per_second", "t/s all"},
                                               {"bound_by", "by", true}});
    table.title += " (t/s: tokens a second)";
    table.formulas = {fmt::format("times: {}", device->usual.efficiency.origin)};
  }
  VITRO_TRY_ASSIGN(std::vector<PlanCell> asked, row.cells(weights));
  table.rows.push_back(std::move(asked));
  for (const WeightFormat& format : formats_beside(weights, question.options, device)) {
    const PlannedWeights other = planned_weights(model, question.options, format, question.shape.engine);
    VITRO_TRY_ASSIGN(std::vector<PlanCell> cells, row.cells(other));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace vitro
