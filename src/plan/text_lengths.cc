#include "plan/text_lengths.h"

#include "base/saturating.h"
#include "plan/first_where.h"
#include "plan/work.h"

namespace vitro {

TextFlops text_flops(const ModelConfig& config, const WeightsPlan& weights, int64_t n) {
  const int64_t n_source = config.kind == ModelKind::kEncoderDecoder ? n : 0;
  const PassWork work = pass_work(config, weights, {.n_rows = n, .n_source = n_source, .has_new_source = true}, {});
  return {.projections = sat_add(work[Part::kQkv].flops, work[Part::kAttnOut].flops),
          .all_pairs = work[Part::kScores].flops_dense,
          .masked = work[Part::kScores].flops,
          .feed_forward = work[Part::kFfn].flops};
}

AttentionCrossovers attention_crossovers(const ModelConfig& config, const WeightsPlan& weights) {
  constexpr int64_t kLongest = int64_t{1} << 24;
  const auto crossover = [&](int64_t TextFlops::*scores, bool has_projections) {
    const auto is_passed = [&](int64_t n) {
      const TextFlops flops = text_flops(config, weights, n);
      return sat_add(flops.*scores, has_projections ? flops.projections : 0) >= flops.feed_forward;
    };
    return first_where(is_passed, kLongest);
  };
  return {.all_pairs = crossover(&TextFlops::all_pairs, false),
          .masked = crossover(&TextFlops::masked, false),
          .all_pairs_with_projections = crossover(&TextFlops::all_pairs, true),
          .masked_with_projections = crossover(&TextFlops::masked, true)};
}

}  // namespace vitro
