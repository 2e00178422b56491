// The work of a pass: FLOPs and bytes moved, by part. A multiply-add counts as two FLOPs. Attention's scores and
// weighted sums are counted twice over: all pairs, and those that the mask lets through.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/cache_type.h"
#include "model/config.h"
#include "plan/item.h"
#include "plan/weights_plan.h"

namespace vitro {

/// Rows that a pass computes: of each of n_sequences, n_rows new ones behind n_past that are in the cache.
struct PassShape {
  int64_t n_rows = 1;
  int64_t n_past = 0;
  int64_t n_sequences = 1;
  int64_t n_logits = 1;         ///< rows of each sequence that logits are asked for
  int64_t n_source = 0;         ///< positions of the source of an encoder-decoder
  bool has_new_source = false;  ///< the encoder runs in this pass
};

/// Parts in the order of a layer.
enum class Part : uint8_t { kQkv, kScores, kAttnOut, kFfn, kHead, kOther };
inline constexpr int kNParts = static_cast<int>(Part::kOther) + 1;
std::string_view part_name(Part part);

struct PartWork {
  int64_t flops = 0;         ///< masked pairs left out
  int64_t flops_dense = 0;   ///< all n x n pairs of attention, as most papers count
  int64_t weight_bytes = 0;  ///< read once by the pass; of experts, those expected to be chosen by its rows
  int64_t cache_bytes = 0;   ///< of past keys and values read, new ones written
  int64_t row_bytes = 0;     ///< activations read and written, each once

  int64_t n_bytes() const;
  /// FLOPs a byte.
  double intensity() const { return static_cast<double>(flops) / static_cast<double>(std::max<int64_t>(n_bytes(), 1)); }
};

/// One product of a part's FLOPs: 2 x its factors.
struct FlopsTerm {
  struct Factor {
    std::string_view name = {};
    int64_t value = 1;
    friend bool operator==(const Factor&, const Factor&) = default;
  };
  std::string_view name = {};
  int64_t n_layer = 1;  ///< layers that have the same; of matrices all layers are in the elements
  std::array<Factor, 4> factors{};
};

struct PassWork {
  std::array<PartWork, kNParts> parts{};
  std::array<std::vector<FlopsTerm>, kNParts> terms{};  ///< what PartWork::flops is the sum of; empty for a share of it
  bool is_latent_expanded = false;                      ///< as of WorkTypes: the cache has heads to divide

  const PartWork& operator[](Part part) const { return parts[static_cast<size_t>(part)]; }
  PartWork total() const;
};

/// element_bytes: of an activation; cache_type: of K and V.
struct WorkTypes {
  CacheType cache_type = CacheType::kF16;
  int64_t element_bytes = 2;
  bool is_latent_expanded = false;  ///< MLA: full heads in the cache, nothing absorbed
};

/// Matrix products 2 x rows x elements (of experts, those that a row passes), scores and weighted sums
/// 2 x n_head x (d_head + d_head_v) x pairs a layer; latent attention works on the latent vectors behind a past
/// (absorbed), on full heads without. Norms, rotations and softmax are not counted. Saturating.
PassWork pass_work(const ModelConfig& config, const WeightsPlan& weights, const PassShape& shape,
                   const WorkTypes& types);

/// Pairs (row, key) of one sequence that a layer's mask lets through.
int64_t visible_pairs(const AttentionSpec& attn, int64_t n_rows, int64_t n_past);
/// Experts of a layer that n_rows rows are expected to choose, each uniformly: n_expert (1 - (1 - k /
/// n_expert)^n_rows).
double expected_experts(const MoeSpec& moe, int64_t n_rows);

/// Experts of a layer that are read for a token of 1, 8 or 64 users together; of more than one as expected_experts.
struct ExpertTraffic {
  int64_t n_expert = 0;
  int64_t of_1 = 0;
  double of_8 = 0, of_64 = 0;
};
/// Of the first layer that has experts; nothing: none has.
std::optional<ExpertTraffic> expert_traffic(const ModelConfig& config);

/// For people: a tree of FLOPs by part, masked pairs left out, with the numbers of every product.
PlanItem work_item(const PassWork& work, std::string name);

}  // namespace vitro
