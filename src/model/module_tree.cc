#include "model/module_tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <unordered_map>

#include "model/words.h"

namespace vitro {
namespace {

/// Words for a module inside a block, by its name.
std::string block_module_words(std::string_view name, const BlockSpec& block) {
  if (name == "attn") return attention_words(block.attn);
  if (name == "cross") return "over the encoder's output";
  if (name == "experts") return expert_words(block.ffn);
  if (name == "shared") return fmt::format("{} neurons that every token passes", block.ffn.moe.d_ff_shared);
  if (name == "router") return router_words(block.ffn.moe);
  if (name == "q_a_norm" || name == "kv_a_norm") return norm_words(block.attn.qk_norm_spec);
  if (name == "ffn") return feed_forward_words(block.ffn);
  if (name == "q_norm" || name == "k_norm") return norm_words(block.attn.qk_norm_spec);
  return name.ends_with("norm") ? norm_words(block.norm) : "";
}

std::string block_words(const BlockSpec& block) {
  if (block.residual == Residual::kParallel) return "attn and ffn in parallel";
  if (block.residual == Residual::kParallelSharedNorm) return "attn and ffn in parallel behind one norm";
  return "";
}

std::string outer_module_words(std::string_view name, const ModelConfig& config) {
  if (name == "final_norm") return norm_words(config.final_norm);
  if (name == "embed_norm") return norm_words(config.embed_norm);
  if (name == "embed" && config.is_head_tied) return "also the head (tied)";
  if (name == "pos_embed") return "learned positions";
  if (name == "token_type") return "kinds of segments";
  if (name == "pooler") return "tanh, over the first token";
  if (name == "encoder") return fmt::format("{} layers that read the source", config.encoder_blocks.size());
  if (name == "embed_in") return fmt::format("{} -> {}", config.d_embed, config.d_model);
  if (name == "embed_out") return fmt::format("{} -> {}", config.d_model, config.d_embed);
  return "";
}

Module& child(Module& parent, std::string_view name) {
  for (Module& module : parent.modules) {
    if (module.name == name) return module;
  }
  parent.modules.emplace_back().name = name;
  return parent.modules.back();
}

/// Equal blocks have equal keys. Made of what families let differ by layer, so that as few others as possible share
/// one.
size_t fold_key(const BlockSpec& block) {
  size_t key = 0;
  const auto mix = [&](auto value) {
    key = (key ^ std::hash<decltype(value)>{}(value)) * 0x9E3779B97F4A7C15ULL;
    key ^= key >> 32;
  };
  mix(block.attn.scale);
  mix(block.attn.window);
  mix(block.attn.n_kv_head);
  mix(block.attn.rope.theta);
  mix(block.ffn.d_ff);
  mix(block.ffn.moe.n_expert);
  return key;
}

/// Slots go in one by one, in forward order; sums are made at the end.
class TreeBuilder {
 public:
  explicit TreeBuilder(const ModelConfig& config)
      : config_(config), blocks_(config.blocks), encoder_(config.encoder_blocks) {}

  /// `bound`: null without a file.
  void add(const TensorSlot& slot, const BoundTensor* bound) {
    std::string_view name = slot.name;
    const bool is_encoder = name.starts_with(kEncoder);
    Module& at = is_encoder ? child(root_, "encoder") : root_;
    if (is_encoder) name.remove_prefix(kEncoder.size());
    if (is_encoder && at.what.empty()) at.what = outer_module_words("encoder", config_);
    if (!name.starts_with(kBlocks)) return add_leaf(at, name, nullptr, slot, bound);
    name.remove_prefix(kBlocks.size());
    size_t layer = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), layer);
    name.remove_prefix(static_cast<size_t>(end - name.data()) + 1);
    Stack& stack = is_encoder ? encoder_ : blocks_;
    add_leaf(group_module(at, stack, stack.group_of[layer]), name, &stack.blocks[layer], slot, bound);
  }

  Module finish() {
    sum(root_);
    return std::move(root_);
  }

 private:
  static constexpr std::string_view kEncoder = "encoder.", kBlocks = "blocks.";

  struct Stack {
    explicit Stack(const std::vector<BlockSpec>& all) : blocks(all) { fold(); }

    void fold() {
      std::unordered_map<size_t, std::vector<size_t>> groups_by_key;
      for (size_t i = 0; i < blocks.size(); ++i) {
        std::vector<size_t>& candidates = groups_by_key[fold_key(blocks[i])];
        const auto it = std::find_if(candidates.begin(), candidates.end(), [&](size_t group) {
          return blocks[static_cast<size_t>(groups[group].front())] == blocks[i];
        });
        group_of.push_back(it == candidates.end() ? groups.size() : *it);
        if (it == candidates.end()) {
          candidates.push_back(groups.size());
          groups.emplace_back();
        }
        groups[group_of.back()].push_back(static_cast<int64_t>(i));
      }
    }

    const std::vector<BlockSpec>& blocks;
    std::vector<size_t> group_of;              // [n_layer]
    std::vector<std::vector<int64_t>> groups;  // layers of each group
  };

  /// All groups are made at once, so that references to them stay good.
  static Module& group_module(Module& at, const Stack& stack, size_t group) {
    Module& blocks = child(at, "blocks");
    for (size_t i = blocks.modules.size(); i < stack.groups.size(); ++i) {
      Module& module = blocks.modules.emplace_back();
      module.layers = stack.groups[i];
      module.name = layer_ranges(module.layers);
      module.n_copies = static_cast<int64_t>(module.layers.size());
      module.what = block_words(stack.blocks[static_cast<size_t>(module.layers.front())]);
    }
    return blocks.modules[group];
  }

  void add_leaf(Module& at, std::string_view path, const BlockSpec* block, const TensorSlot& slot,
                const BoundTensor* bound) {
    if (const size_t dot = path.find('.'); dot != std::string_view::npos) {
      const std::string_view name = path.substr(0, dot);
      Module& inner = child(at, name);
      if (inner.what.empty()) inner.what = block ? block_module_words(name, *block) : outer_module_words(name, config_);
      return add_leaf(inner, path.substr(dot + 1), block, slot, bound);
    }
    auto it =
        std::find_if(at.tensors.begin(), at.tensors.end(), [&](const TensorLeaf& leaf) { return leaf.name == path; });
    if (it == at.tensors.end()) {
      at.tensors.push_back({std::string(path), slot.shape, {}, 0, slot.is_parameter});
      it = at.tensors.end() - 1;
    }
    if (!bound) return;
    const DType type = bound->entry->dtype;
    it->n_bytes += checked_bytes(type, bound->shape()).value_or(0);
    if (std::find(it->types.begin(), it->types.end(), type) == it->types.end()) it->types.push_back(type);
  }

  /// Bytes of leaves are sums over all copies already; parameters are those of one copy.
  void sum(Module& module) {
    for (const TensorLeaf& leaf : module.tensors) {
      if (leaf.is_parameter) module.n_parameters += leaf.shape.n_elements();
      module.n_bytes += leaf.n_bytes;
    }
    for (Module& inner : module.modules) {
      sum(inner);
      module.n_parameters += inner.n_parameters * inner.n_copies;
      module.n_bytes += inner.n_bytes;
    }
  }

  const ModelConfig& config_;
  Stack blocks_, encoder_;
  Module root_;
};

}  // namespace

Module module_tree(const ModelConfig& config, std::span<const TensorSlot> slots, std::span<const BoundTensor> bound) {
  TreeBuilder builder(config);
  if (bound.empty()) {
    for (const TensorSlot& slot : slots) {
      if (!slot.is_optional) builder.add(slot, nullptr);
    }
  }
  for (const BoundTensor& tensor : bound) builder.add(*tensor.slot, &tensor);
  return builder.finish();
}

std::string layer_ranges(std::span<const int64_t> layers) {
  std::string text;
  for (size_t i = 0; i < layers.size();) {
    size_t last = i;
    while (last + 1 < layers.size() && layers[last + 1] == layers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", layers[i]);
    if (last > i) text += fmt::format("-{}", layers[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace vitro
