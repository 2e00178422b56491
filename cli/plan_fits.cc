#include "cli/plan_fits.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/human.h"
#include "base/saturating.h"
#include "cli/plan_serving.h"

namespace vitro {
namespace {

constexpr int64_t kMostSequences = int64_t{1} << 20;

// What a search varies.
enum class Varied : uint8_t { kContext, kSequences };

Result<Fit> find_fit(const PlanModel& model, const WeightsPlan& weights, const InferenceQuestion& question,
                     Varied varied, int64_t budget) {
  InferenceShape shape = question.shape;
  const auto bytes_of = [&](int64_t n) -> Result<int64_t> {
    (varied == Varied::kContext ? shape.session.n_ctx : shape.session.n_sequences) = n;
    shape.session.n_logits = shape.session.n_sequences;
    if (model.config.kind == ModelKind::kEncoderDecoder) shape.n_source = shape.session.n_ctx;
    VITRO_TRY_ASSIGN(const InferencePlan plan, plan_inference(model.config, weights, shape));
    return device_memory(model.config, plan.memory, question.options.n_devices).amount;
  };
  const int64_t limit = varied == Varied::kContext ? n_reachable(model.config) : kMostSequences;
  return largest_fit(bytes_of, budget, limit);
}

// Weights and cache alone, no pages, no workspace: as the documents count.
Result<Fit> find_bare_fit(const PlanModel& model, const WeightsPlan& weights, const InferenceQuestion& question,
                          int64_t budget) {
  const SessionShape& s = question.shape.session;
  const CachePolicy policy{.type = s.cache_type, .page_size = 1, .keeps_only_windows = s.keeps_only_windows};
  const int64_t n_devices = question.options.n_devices;
  const int64_t weight_bytes = device_weight_bytes(weights.total().n_bytes, n_devices);
  const auto bytes_of = [&](int64_t n) -> Result<int64_t> {
    const int64_t cache = cache_item(model.config, policy, n, s.n_sequences, question.shape.n_source).amount;
    return sat_add(weight_bytes, device_cache_bytes(model.config, cache, n_devices));
  };
  return largest_fit(bytes_of, budget, n_reachable(model.config));
}

std::vector<PlanCell> fit_row(std::string question, const Fit& fit) {
  const bool is_limit = fit.limit == FitLimit::kLimit;
  return {text_cell(std::move(question)), count_cell(fit.n), fit.n > 0 ? bytes_cell(fit.n_bytes) : no_cell(),
          fit.next_bytes > 0 ? bytes_cell(fit.next_bytes) : no_cell(),
          text_cell(fit.n == 0 ? "does not fit"
                    : is_limit ? "the model's last position"
                               : "memory")};
}

bool keeps_cache(const ModelConfig& config) { return config.kind != ModelKind::kEncoder; }

// ---- types of the weights ----

std::vector<WeightFormat> formats_beside(const PlannedWeights& weights, const PlanOptions& options,
                                         const std::optional<PlanDevice>& device) {
  std::vector<std::string_view> names = {"bf16", "q8_0", "q4_k"};
  if (device) names = {"bf16", "fp8", "int4"};
  std::vector<WeightFormat> formats = options.other_weights;
  for (const std::string_view name : names) {
    const auto format = parse_weight_format(name);
    if (options.other_weights.empty() && format) formats.push_back(*format);
  }
  std::erase_if(formats, [&](const WeightFormat& format) { return format_name(format) == weights.matrix_type; });
  return formats;
}

struct FormatRow {
  const PlanModel& model;
  const InferenceQuestion& question;
  const std::optional<PlanDevice>& device;
  int64_t budget = 0;

  bool has_times() const { return device && keeps_cache(model.config); }
  Result<std::vector<PlanCell>> cells(const PlannedWeights& weights) const;

 private:
  Result<ServingTimes> times(const PlannedWeights& weights, int64_t n_sequences) const {
    const WorkOf work = [&](const PassShape& shape) {
      return pass_work(model.config, weights.plan, shape, work_types(question.shape));
    };
    VITRO_TRY_ASSIGN(const Machine machine, usual_machine(*device, model, question.options, weights.matrix_type));
    const Serving serving{
        .n_prompt = question.n_prompt, .n_past = question.shape.session.n_ctx - 1, .n_sequences = n_sequences};
    return serving_times(model.config, work, serving, machine);
  }
};

Result<std::vector<PlanCell>> FormatRow::cells(const PlannedWeights& weights) const {
  VITRO_TRY_ASSIGN(const Fit users, find_fit(model, weights.plan, question, Varied::kSequences, budget));
  InferenceQuestion alone = question;
  alone.shape.session.n_sequences = 1;
  VITRO_TRY_ASSIGN(const Fit context, find_fit(model, weights.plan, alone, Varied::kContext, budget));
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

}  // namespace

int64_t plan_budget(const PlanOptions& options, const std::optional<PlanDevice>& device) {
  if (options.budget > 0) return options.budget;
  return device ? device->n_bytes() : 0;
}

Result<PlanTable> fits_table(const PlanModel& model, const PlannedWeights& weights, const InferenceQuestion& question,
                             int64_t budget) {
  const int64_t n_devices = question.options.n_devices;
  const std::string where = n_devices > 1 ? fmt::format(" on each of {}", n_devices) : "";
  const SessionShape& s = question.shape.session;
  const std::string users = fmt::format("{} user{}", human_count(s.n_sequences), s.n_sequences == 1 ? "" : "s");
  PlanTable table{.id = "fits",
                  .title = fmt::format("What fits into {}{}", decimal_text(static_cast<double>(budget), "B"), where),
                  .columns = {{"question", "", true},
                              {"answer", "answer"},
                              {"bytes", "bytes"},
                              {"next_bytes", "one more"},
                              {"limit", "limit", true}}};
  VITRO_TRY_ASSIGN(const Fit context, find_fit(model, weights.plan, question, Varied::kContext, budget));
  VITRO_TRY_ASSIGN(const Fit most, find_fit(model, weights.plan, question, Varied::kSequences, budget));
  table.rows.push_back(fit_row(fmt::format("longest context, {}", users), context));
  if (keeps_cache(model.config)) {
    VITRO_TRY_ASSIGN(const Fit bare, find_bare_fit(model, weights.plan, question, budget));
    table.rows.push_back(fit_row("the same, weights and cache alone", bare));
  }
  table.rows.push_back(fit_row(fmt::format("most users, contexts of {}", human_count(s.n_ctx)), most));
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
  PlanTable table{
      .id = "weight_formats",
      .title = fmt::format("Other weights, contexts of {}", human_count(question.shape.session.n_ctx)),
      .certainty = device ? device->usual.efficiency.certainty : Certainty::kExact,
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
