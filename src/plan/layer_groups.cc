#include "plan/layer_groups.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/saturating.h"
#include "plan/saved_tensors.h"

namespace vitro {
namespace {

bool keeps_the_same(const ActivationQuestion& question, const BlockSpec& a, const BlockSpec& b, bool is_encoder) {
  if (a == b) return true;
  const auto of_a = saved_tensors(question, a, is_encoder), of_b = saved_tensors(question, b, is_encoder);
  const auto elements = [](const SavedTensor& tensor) { return product_item("", tensor.width).amount; };
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), [&](const auto& x, const auto& y) {
    return x.name == y.name && x.element_bytes == y.element_bytes && elements(x) == elements(y);
  });
}

// Remembers, because layers repeat a few kinds.
class Groups {
 public:
  Groups(const ActivationQuestion& question, bool is_encoder) : question_(question), is_encoder_(is_encoder) {}

  LayerGroup& of(const BlockSpec& block) {
    const auto same = std::find_if(seen_.begin(), seen_.end(), [&](const auto& pair) { return *pair.first == block; });
    if (same != seen_.end()) return groups_[same->second];
    const auto at = std::find_if(groups_.begin(), groups_.end(), [&](const LayerGroup& group) {
      return keeps_the_same(question_, *group.block, block, is_encoder_);
    });
    const auto index = static_cast<size_t>(at - groups_.begin());
    if (at == groups_.end()) groups_.push_back({&block});
    seen_.emplace_back(&block, index);
    return groups_[index];
  }
  std::vector<LayerGroup> take() { return std::move(groups_); }

 private:
  const ActivationQuestion& question_;
  bool is_encoder_;
  std::vector<std::pair<const BlockSpec*, size_t>> seen_;
  std::vector<LayerGroup> groups_;
};

std::string group_name(const LayerGroup& group, size_t n_groups, bool is_encoder) {
  const std::string_view stack = is_encoder ? "encoder " : "";
  const std::string_view layers = group.n == 1 ? "layer" : "layers";
  if (n_groups == 1) return fmt::format("{}{} {}", stack, group.n, layers);
  return fmt::format("{}{} {} like {}", stack, group.n, layers, group.first);
}

}  // namespace

std::vector<LayerGroup> group_layers(const ActivationQuestion& question, const Blocks& blocks, bool is_encoder) {
  Groups groups(question, is_encoder);
  for (size_t i = 0; i < blocks.size(); ++i) {
    LayerGroup& group = groups.of(*blocks[i]);
    if (group.n++ == 0) group.first = static_cast<int64_t>(i);
  }
  return groups.take();
}

Blocks blocks_of_stage(const ActivationQuestion& question, int64_t stage, bool is_encoder) {
  const auto& stack = is_encoder ? question.config.encoder_blocks : question.config.blocks;
  const ParallelLayout& layout = question.layout;
  const size_t n_chunk = stack.size() / static_cast<size_t>(layout.pipeline * layout.n_chunks);
  Blocks blocks;
  for (int64_t chunk = 0; chunk < layout.n_chunks; ++chunk) {
    const size_t first = static_cast<size_t>(chunk * layout.pipeline + stage) * n_chunk;
    for (size_t i = first; i < first + n_chunk; ++i) blocks.push_back(&stack[i]);
  }
  return blocks;
}

std::vector<Factor> pass_factors(const ActivationQuestion& question, int64_t stage, std::string name, int64_t n) {
  const int64_t c = n_in_flight(question.layout, question.shape.n_micro_batches, stage);
  const int64_t v = question.layout.n_chunks;
  if (v == 1) return {{std::move(name), n}, {"micro-batches in flight", c}};
  return {{name + " x chunks in flight / interleave", divided_up(sat_mul(n, c), v)}};
}

std::vector<PlanItem> layer_items(const ActivationQuestion& question, const Blocks& blocks, bool is_encoder,
                                  std::optional<int64_t> stage_in_flight) {
  const std::vector<LayerGroup> groups = group_layers(question, blocks, is_encoder);
  std::vector<PlanItem> items;
  for (const LayerGroup& group : groups) {
    const std::vector<Factor> counts = stage_in_flight ? pass_factors(question, *stage_in_flight, "layers", group.n)
                                                       : std::vector<Factor>{{"layers", group.n}};
    items.push_back(sum_item(group_name(group, groups.size(), is_encoder),
                             tensor_items(question, *group.block, is_encoder, counts, false)));
  }
  return items;
}

}  // namespace vitro
