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
  return key;
}

/// Slots go in one by one, in forward order; sums are made at the end.
class TreeBuilder {
 public:
  explicit TreeBuilder(const ModelConfig& config) : config_(config) { fold_layers(); }

  void add(const TensorSlot& slot, const WeightEntry* entry) {
    std::string_view name = slot.name;
    if (!name.starts_with("blocks.")) {
      return add_leaf(root_, name, nullptr, slot, entry);
    }
    name.remove_prefix(std::string_view("blocks.").size());
    size_t layer = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), layer);
    name.remove_prefix(static_cast<size_t>(end - name.data()) + 1);
    add_leaf(group_module(group_of_[layer]), name, &config_.blocks[layer], slot, entry);
  }

  Module finish() {
    sum(root_);
    return std::move(root_);
  }

 private:
  void fold_layers() {
    std::unordered_map<size_t, std::vector<size_t>> groups_by_key;
    for (size_t i = 0; i < config_.blocks.size(); ++i) {
      std::vector<size_t>& candidates = groups_by_key[fold_key(config_.blocks[i])];
      const auto it = std::find_if(candidates.begin(), candidates.end(), [&](size_t group) {
        return config_.blocks[static_cast<size_t>(groups_[group].front())] == config_.blocks[i];
      });
      group_of_.push_back(it == candidates.end() ? groups_.size() : *it);
      if (it == candidates.end()) {
        candidates.push_back(groups_.size());
        groups_.emplace_back();
      }
      groups_[group_of_.back()].push_back(static_cast<int64_t>(i));
    }
  }

  /// All groups are made at once, so that references to them stay good.
  Module& group_module(size_t group) {
    Module& blocks = child(root_, "blocks");
    for (size_t i = blocks.modules.size(); i < groups_.size(); ++i) {
      Module& module = blocks.modules.emplace_back();
      module.layers = groups_[i];
      module.name = layer_ranges(module.layers);
      module.n_copies = static_cast<int64_t>(module.layers.size());
      module.what = block_words(config_.blocks[static_cast<size_t>(module.layers.front())]);
    }
    return blocks.modules[group];
  }

  void add_leaf(Module& at, std::string_view path, const BlockSpec* block, const TensorSlot& slot,
                const WeightEntry* entry) {
    if (const size_t dot = path.find('.'); dot != std::string_view::npos) {
      const std::string_view name = path.substr(0, dot);
      Module& inner = child(at, name);
      if (inner.what.empty()) inner.what = block ? block_module_words(name, *block) : outer_module_words(name, config_);
      return add_leaf(inner, path.substr(dot + 1), block, slot, entry);
    }
    auto it =
        std::find_if(at.tensors.begin(), at.tensors.end(), [&](const TensorLeaf& leaf) { return leaf.name == path; });
    if (it == at.tensors.end()) {
      at.tensors.push_back({std::string(path), slot.shape, {}, 0, !path.starts_with("rope_factors")});
      it = at.tensors.end() - 1;
    }
    if (!entry) return;
    it->n_bytes += checked_bytes(entry->dtype, slot.shape).value_or(0);
    if (std::find(it->types.begin(), it->types.end(), entry->dtype) == it->types.end())
      it->types.push_back(entry->dtype);
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
  std::vector<size_t> group_of_;              // [n_layer]
  std::vector<std::vector<int64_t>> groups_;  // layers of each group
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
  for (const BoundTensor& tensor : bound) builder.add(*tensor.slot, tensor.entry);
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
