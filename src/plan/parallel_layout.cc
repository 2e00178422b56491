#include "plan/parallel_layout.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/checked_math.h"
#include "base/saturating.h"
#include "plan/find_choice.h"

namespace vitro {
namespace {

constexpr auto kZeroUnits = std::to_array<std::string_view>({
#define VITRO_X(name, text, doc) text,
    VITRO_ZERO_UNITS(VITRO_X)
#undef VITRO_X
});

constexpr int64_t kMaxRanks = int64_t{1} << 20;  // of one kind of parallelism: far above any cluster

// Collects what is wrong, in words.
class Problems {
 public:
  template <class... Args>
  void add_if(bool is_wrong, fmt::format_string<Args...> format, Args&&... args) {
    if (is_wrong) found_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
  bool is_empty() const { return found_.empty(); }
  Status status() const {
    if (found_.empty()) return {};
    return fail(ErrorCode::kInvalidArgument, "{}", fmt::join(found_, "; "));
  }

 private:
  std::vector<std::string> found_;
};

void check_sizes(const ParallelLayout& layout, Problems* problems) {
  struct Size {
    std::string_view name;
    int64_t value;
  };
  const auto sizes = std::to_array<Size>({{"--dp", layout.data},
                                          {"--tp", layout.tensor},
                                          {"--pp", layout.pipeline},
                                          {"--ep", layout.expert},
                                          {"--interleave", layout.n_chunks},
                                          {"gathered units", layout.n_gathered}});
  for (const Size& size : sizes) {
    problems->add_if(size.value < 1 || size.value > kMaxRanks, "{} {}: must be between 1 and {}", size.name, size.value,
                     kMaxRanks);
  }
  problems->add_if(layout.zero_stage < 0 || layout.zero_stage > 3, "--zero {}: must be 0, 1, 2 or 3",
                   layout.zero_stage);
  problems->add_if(layout.bucket_bytes < 0, "bucket bytes {}: must not be negative", layout.bucket_bytes);
}

void check_tensor(const BlockSpec& block, int64_t t, Problems* problems) {
  const AttentionSpec& attn = block.attn;
  const MoeSpec& moe = block.ffn.moe;
  problems->add_if(attn.n_head % t != 0, "--tp {}: does not divide {} heads", t, attn.n_head);
  const bool is_kv_shared = attn.n_kv_head > 0 && t % attn.n_kv_head == 0;  // a head on several ranks
  problems->add_if(attn.n_kv_head % t != 0 && !is_kv_shared, "--tp {}: does not divide {} heads of keys", t,
                   attn.n_kv_head);
  problems->add_if(moe.n_expert == 0 && block.ffn.d_ff % t != 0, "--tp {}: does not divide the width {}", t,
                   block.ffn.d_ff);
  problems->add_if(moe.n_expert > 0 && (moe.d_ff_expert % t != 0 || moe.d_ff_shared % t != 0),
                   "--tp {}: does not divide the experts' widths {} and {}", t, moe.d_ff_expert, moe.d_ff_shared);
}

void check_experts(const ModelConfig& config, const ParallelLayout& layout, Problems* problems) {
  if (layout.expert == 1) return;
  const auto is_dense = [](const BlockSpec& block) { return block.ffn.moe.n_expert == 0; };
  problems->add_if(std::all_of(config.blocks.begin(), config.blocks.end(), is_dense),
                   "--ep {}: the model has no experts", layout.expert);
  problems->add_if(layout.data % layout.expert != 0, "--ep {}: does not divide --dp {}", layout.expert, layout.data);
  for (const BlockSpec& block : config.blocks) {
    if (block.ffn.moe.n_expert % layout.expert == 0) continue;
    problems->add_if(true, "--ep {}: does not divide {} experts", layout.expert, block.ffn.moe.n_expert);
    return;
  }
}

void check_pipeline(const ModelConfig& config, const ParallelLayout& layout, int64_t n_micro_batches,
                    Problems* problems) {
  const int64_t p = layout.pipeline, v = layout.n_chunks, n_layer = config.n_layer();
  problems->add_if(p == 1 && v > 1, "--interleave {}: needs --pp above 1", v);
  if (p == 1) return;
  problems->add_if(!config.encoder_blocks.empty(), "--pp {}: not planned for an encoder-decoder; use 1", p);
  if (p > n_layer) return problems->add_if(true, "--pp {}: more stages than {} layers", p, n_layer);
  problems->add_if(n_layer % sat_mul(p, v) != 0, "--pp {} x --interleave {}: does not divide {} layers", p, v, n_layer);
  problems->add_if(v > 1 && n_micro_batches % p != 0, "--interleave {}: {} micro-batches are no multiple of {} stages",
                   v, n_micro_batches, p);
}

// How a rank's part of a slot is cut.
enum class Cut : uint8_t { kWhole, kRows, kKvRows, kCols };

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return name.ends_with(end); });
}

// Megatron's: matrices into heads and hidden units by rows, those out of them by columns, vocabulary by rows; the rest
// (norms, routers, positions, biases behind a sum over ranks, low-rank projections) is on every rank.
Cut cut_of(std::string_view name) {
  if (name == "embed.w" || name == "unembed.w" || name == "unembed.b") return Cut::kRows;
  if (ends_with_any(name, {".w_k", ".b_k", ".w_v", ".b_v"})) return Cut::kKvRows;
  if (ends_with_any(name, {".w_o", ".w_down"})) return Cut::kCols;
  const bool is_in =
      ends_with_any(name, {".w_q", ".b_q", ".w_q_b", ".w_kv_b", ".sinks", ".w_gate", ".b_gate", ".w_up", ".b_up"});
  return is_in ? Cut::kRows : Cut::kWhole;
}

const BlockSpec* block_at(const ModelConfig& config, const SlotPlace& place) {
  const auto& stack = place.is_encoder ? config.encoder_blocks : config.blocks;
  const bool is_inside = place.layer >= 0 && place.layer < static_cast<int64_t>(stack.size());
  return is_inside ? &stack[static_cast<size_t>(place.layer)] : nullptr;
}

// Ranks that a cut dimension is divided by: heads of keys and values that are fewer than the ranks are there more
// than once.
int64_t n_parts(Cut cut, const BlockSpec* block, int64_t t) {
  return cut == Cut::kKvRows && block ? std::min(t, block->attn.n_kv_head) : t;
}

RankTensor whole_tensor(const TensorSlot& slot, Component component) {
  const bool is_matrix = slot.use == SlotUse::kMatrix;
  const int n_dims = is_matrix ? 2 : 1;
  RankTensor tensor{.component = component, .is_matrix = is_matrix};
  const int rank = slot.shape.rank();
  tensor.cols = rank > 0 ? slot.shape.last() : 1;
  tensor.rows = is_matrix && rank > 1 ? slot.shape[rank - 2] : 1;
  for (int axis = 0; axis < rank - n_dims; ++axis) tensor.n_matrices = sat_mul(tensor.n_matrices, slot.shape[axis]);
  return tensor;
}

RankTensor rank_tensor(const ModelConfig& config, const TensorSlot& slot, Component component,
                       const ParallelLayout& layout) {
  RankTensor tensor = whole_tensor(slot, component);
  const SlotPlace place = place_of(slot.name);
  const Cut cut = cut_of(place.name);
  if (component == Component::kExperts) tensor.n_matrices = ceil_div(tensor.n_matrices, layout.expert);
  tensor.is_inside = place.layer >= 0;
  tensor.unit = place.is_encoder ? place.layer + kMaxLayers : place.layer;
  if (cut == Cut::kWhole) return tensor;
  int64_t& side = cut == Cut::kCols || !tensor.is_matrix ? tensor.cols : tensor.rows;
  side = ceil_div(side, n_parts(cut, block_at(config, place), layout.tensor));
  return tensor;
}

bool is_behind_blocks(std::string_view name) {
  return name.starts_with("final_norm") || name.starts_with("unembed") || name.starts_with("embed_out") ||
         name.starts_with("pooler");
}

int64_t stage_of_slot(const ModelConfig& config, const ParallelLayout& layout, const TensorSlot& slot) {
  const SlotPlace place = place_of(slot.name);
  if (layout.pipeline == 1) return 0;
  if (place.layer >= 0) return stage_of_layer(layout, config.n_layer(), place.layer);
  return is_behind_blocks(place.name) ? layout.pipeline - 1 : 0;
}

}  // namespace

std::string_view zero_unit_name(ZeroUnit unit) { return kZeroUnits[static_cast<size_t>(unit)]; }

Result<ZeroUnit> parse_zero_unit(std::string_view name) {
  VITRO_TRY_ASSIGN(const size_t index, find_choice(kZeroUnits, "--gather", name));
  return static_cast<ZeroUnit>(index);
}

int64_t ParallelLayout::n_devices() const { return sat_mul(data, tensor, pipeline); }

int64_t RankTensor::n() const { return sat_mul(n_matrices, rows, cols); }

Status check_layout(const ModelConfig& config, const ParallelLayout& layout, int64_t seq_len, int64_t n_micro_batches) {
  Problems problems;
  check_sizes(layout, &problems);
  if (!problems.is_empty()) return problems.status();
  const int64_t t = layout.tensor;
  problems.add_if(layout.is_sequence_parallel && t == 1, "--sequence-parallel: needs --tp above 1");
  problems.add_if(layout.zero_unit != ZeroUnit::kBlock && (layout.zero_stage < 3 || layout.data == 1),
                  "--gather {}: with --zero {} and --dp {} nothing is gathered; needs --zero 3 and --dp above 1",
                  zero_unit_name(layout.zero_unit), layout.zero_stage, layout.data);
  problems.add_if(layout.is_sequence_parallel && seq_len % t != 0,
                  "--sequence-parallel: {} ranks do not divide {} rows", t, seq_len);
  const BlockSpec* last = nullptr;
  for (const std::vector<BlockSpec>* stack : {&config.blocks, &config.encoder_blocks}) {
    for (const BlockSpec& block : *stack) {
      if (last && last->ffn == block.ffn && last->attn == block.attn) continue;  // the same problem once
      check_tensor(block, t, &problems);
      last = &block;
      if (!problems.is_empty()) break;
    }
  }
  check_experts(config, layout, &problems);
  check_pipeline(config, layout, n_micro_batches, &problems);
  return problems.status();
}

int64_t stage_of_layer(const ParallelLayout& layout, int64_t n_layer, int64_t layer) {
  const int64_t n_chunk_layers = std::max<int64_t>(n_layer / (layout.pipeline * layout.n_chunks), 1);
  return layer / n_chunk_layers % layout.pipeline;
}

std::vector<std::vector<RankTensor>> rank_tensors(const ModelConfig& config, std::span<const TensorSlot> slots,
                                                  const ParallelLayout& layout) {
  std::vector<std::vector<RankTensor>> stages(static_cast<size_t>(layout.pipeline));
  int64_t n_outside = 0;
  for (const TensorSlot& slot : slots) {
    const auto component = component_of(slot.name);
    if (slot.is_optional || !component) continue;
    RankTensor tensor = rank_tensor(config, slot, *component, layout);
    if (!tensor.is_inside) tensor.unit = --n_outside;
    stages[static_cast<size_t>(stage_of_slot(config, layout, slot))].push_back(tensor);
    if (slot.name != "embed.w" || !config.is_head_tied || layout.pipeline == 1) continue;
    tensor.component = Component::kHead;
    stages.back().push_back(tensor);
  }
  return stages;
}

}  // namespace vitro
