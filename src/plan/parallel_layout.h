// ParallelLayout: how a training run is spread over devices, and which part of the model's tensors the ranks of a
// pipeline stage hold.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/config.h"
#include "plan/component.h"
#include "weights/slot.h"

namespace vitro {

/// X-macro: enum name, printed name, what it is.
// clang-format off
#define VITRO_ZERO_UNITS(X)                                \
  X(kBlock, "block", "the weights of a block, as FSDP")    \
  X(kTensor, "tensor", "a single tensor, as DeepSpeed")
// clang-format on

/// What ZeRO 3 gathers at once.
enum class ZeroUnit : uint8_t {
#define VITRO_X(name, text, doc) name,
  VITRO_ZERO_UNITS(VITRO_X)
#undef VITRO_X
};
std::string_view zero_unit_name(ZeroUnit unit);
/// InvalidArgument lists the names.
Result<ZeroUnit> parse_zero_unit(std::string_view name);

/// data x tensor x pipeline devices; expert parallelism is inside data parallelism.
struct ParallelLayout {
  int64_t data = 1;
  int64_t tensor = 1;                 ///< Megatron's (Shoeybi et al. 2019, arXiv 1909.08053)
  int64_t pipeline = 1;               ///< stages, 1F1B schedule
  int64_t expert = 1;                 ///< ranks that share the experts; divides `data`
  int64_t n_chunks = 1;               ///< interleaved schedule: parts of the model on each stage
  bool is_sequence_parallel = false;  ///< norms and residuals divided by `tensor` too (arXiv 2205.05198)
  /// What data-parallel ranks share (Rajbhandari et al. 2020, arXiv 1910.02054): 0 nothing, 1 master weights and
  /// moments, 2 and gradients, 3 and weights.
  int64_t zero_stage = 0;
  ZeroUnit zero_unit = ZeroUnit::kBlock;         ///< of ZeRO 3
  int64_t n_gathered = 2;                        ///< units of ZeRO 3 that are whole at once: in use, and on their way
  int64_t bucket_bytes = int64_t{2} * 25 << 20;  ///< gradients on their way between ranks; none with ZeRO 3

  int64_t n_devices() const;  ///< saturating
};

/// InvalidArgument, all problems at once, each with its option: sizes below 1, heads, widths, layers, experts or
/// positions that do not divide, more stages than layers, options that would do nothing.
Status check_layout(const ModelConfig& config, const ParallelLayout& layout, int64_t seq_len, int64_t n_micro_batches);

/// One slot as a rank holds it: n_matrices x rows x cols (vectors: one row).
struct RankTensor {
  Component component = Component::kFfn;
  int64_t n_matrices = 1;
  int64_t rows = 1;
  int64_t cols = 1;
  int64_t unit = 0;  ///< block it is in, or a number of its own for tensors outside
  bool is_matrix = false;
  bool is_inside = false;  ///< a block's, neither embedding nor head

  int64_t n() const;  ///< elements, saturating
};

/// Pipeline stage of a block (of both stacks alike): chunks of layers go round the stages.
int64_t stage_of_layer(const ParallelLayout& layout, int64_t n_layer, int64_t layer);
/// The trained tensors that each rank of a stage holds, stage by stage: tensor- and expert-parallel parts (rounded up),
/// not yet divided by ZeRO. A head tied to the embedding is on the last stage once more.
std::vector<std::vector<RankTensor>> rank_tensors(const ModelConfig& config, std::span<const TensorSlot> slots,
                                                  const ParallelLayout& layout);

}  // namespace vitro
