#include "plan/fit.h"

#include <algorithm>

#include "base/saturating.h"
#include "plan/cache_plan.h"
#include "plan/tensor_parallel.h"

namespace vitro {
namespace {

constexpr int64_t kMaxSequences = int64_t{1} << 20;
/// Above any machine; sums with it stay far from the end of 64 bits.
constexpr int64_t kMaxBudget = int64_t{1} << 60;

Status check_budget(int64_t budget) {
  if (budget >= 1 && budget <= kMaxBudget) return {};
  return fail(ErrorCode::kInvalidArgument, "a budget of {} bytes: expected 1 to {}", budget, kMaxBudget);
}

/// Narrows the answer down; `above` is known not to fit, with above_bytes.
Status halve(const BytesOf& bytes_of, int64_t above, Fit* fit) {
  while (above - fit->n > 1) {
    const int64_t middle = fit->n + (above - fit->n) / 2;
    VITRO_TRY_ASSIGN(const int64_t n_bytes, bytes_of(middle));
    ++fit->n_plans;
    if (n_bytes <= fit->budget) {
      fit->n = middle;
      fit->n_bytes = n_bytes;
    } else {
      above = middle;
      fit->next_bytes = n_bytes;
    }
  }
  return {};
}

/// Bytes that one device holds.
Result<int64_t> question_bytes(const ModelConfig& config, const WeightsPlan& weights, const FitQuestion& question) {
  VITRO_TRY_ASSIGN(const InferencePlan plan, plan_inference(config, weights, question.shape));
  return device_memory(config, plan.memory, question.n_devices, question.shape.is_latent_expanded).amount;
}

void follow_context(FitQuestion* question) {
  if (question->has_source_like_context) question->shape.n_source = question->shape.session.n_ctx;
}

BytesOf plan_bytes(const ModelConfig& config, const WeightsPlan& weights, FitQuestion question,
                   int64_t SessionShape::*size) {
  return [&config, &weights, question, size](int64_t n) mutable -> Result<int64_t> {
    SessionShape& session = question.shape.session;
    session.*size = n;
    session.n_logits = session.n_sequences;
    follow_context(&question);
    return question_bytes(config, weights, question);
  };
}

}  // namespace

Result<Fit> largest_fit(const BytesOf& bytes_of, int64_t budget, int64_t limit) {
  VITRO_TRY(check_budget(budget));
  if (limit < 1) return fail(ErrorCode::kInvalidArgument, "nothing to search: the limit is {}", limit);
  Fit fit{.budget = budget};
  for (int64_t n = 1;; n = n > limit / 2 ? limit : 2 * n) {
    VITRO_TRY_ASSIGN(const int64_t n_bytes, bytes_of(n));
    ++fit.n_plans;
    if (n_bytes > budget) {
      fit.next_bytes = n_bytes;
      fit.limit = n == 1 ? FitLimit::kNothing : FitLimit::kMemory;
      VITRO_TRY(halve(bytes_of, n, &fit));
      return fit;
    }
    fit.n = n;
    fit.n_bytes = n_bytes;
    if (n == limit) {
      fit.limit = FitLimit::kLimit;
      return fit;
    }
  }
}

Result<Fit> fit_context(const ModelConfig& config, const WeightsPlan& weights, const FitQuestion& question,
                        int64_t budget) {
  return largest_fit(plan_bytes(config, weights, question, &SessionShape::n_ctx), budget, n_reachable(config));
}

Result<Fit> fit_bare_context(const ModelConfig& config, const WeightsPlan& weights, const FitQuestion& question,
                             int64_t budget) {
  const SessionShape& s = question.shape.session;
  const CachePolicy policy{.type = s.cache_type,
                           .page_size = 1,
                           .keeps_only_windows = s.keeps_only_windows,
                           .is_latent_expanded = question.shape.is_latent_expanded};
  const int64_t weight_bytes = device_weight_bytes(weights.total().n_bytes, question.n_devices);
  const auto bytes_of = [&](int64_t n) -> Result<int64_t> {
    const int64_t n_source = question.has_source_like_context ? n : question.shape.n_source;
    const int64_t cache = cache_item(config, policy, n, s.n_sequences, n_source).amount;
    return sat_add(weight_bytes, device_cache_bytes(config, cache, question.n_devices, policy.is_latent_expanded));
  };
  return largest_fit(bytes_of, budget, n_reachable(config));
}

Result<Fit> fit_sequences(const ModelConfig& config, const WeightsPlan& weights, const FitQuestion& question,
                          int64_t budget) {
  return largest_fit(plan_bytes(config, weights, question, &SessionShape::n_sequences), budget, kMaxSequences);
}

bool is_beyond_training(const ModelConfig& config, int64_t n_ctx) { return config.n_ctx > 0 && n_ctx > config.n_ctx; }

Result<DeviceFit> fit_devices(const ModelConfig& config, const WeightsPlan& weights, const InferenceShape& shape,
                              int64_t budget) {
  VITRO_TRY(check_budget(budget));
  VITRO_TRY_ASSIGN(const InferencePlan plan, plan_inference(config, weights, shape));
  DeviceFit fit;
  for (int64_t n = 1; check_tensor_parallel(config, n); n *= 2) {
    fit.fewer_bytes = fit.n_bytes;
    fit.n_bytes = device_memory(config, plan.memory, n, shape.is_latent_expanded).amount;
    if (fit.n_bytes > budget) continue;
    fit.n_devices = n;
    break;
  }
  return fit;
}

Result<std::vector<FormatFit>> fit_formats(const ModelConfig& config, const WeightsIn& weights_in,
                                           const FitQuestion& question, std::span<const WeightFormat> formats,
                                           int64_t budget) {
  VITRO_TRY(check_budget(budget));
  std::vector<FormatFit> fits;
  for (const WeightFormat& format : formats) {
    VITRO_TRY_ASSIGN(const int64_t n_bytes, question_bytes(config, weights_in(format), question));
    fits.push_back({format, 8 * format.bytes_per_element(), n_bytes, n_bytes <= budget});
  }
  std::stable_sort(fits.begin(), fits.end(), [](const auto& a, const auto& b) { return a.bits > b.bits; });
  return fits;
}

std::vector<WeightFormat> usual_formats() {
  std::vector<WeightFormat> formats;
  for (const std::string_view name : {"f32", "bf16", "q8_0", "q6_k", "q5_k", "q4_k", "q3_k", "q2_k"})
    formats.push_back(parse_weight_format(name).value());
  return formats;
}

}  // namespace vitro
