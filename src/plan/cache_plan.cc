#include "plan/cache_plan.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/checked_math.h"
#include "base/saturating.h"
#include "cache/page_group.h"

namespace vitro {
namespace {

// What one layer keeps of a position, and of how many positions.
struct LayerKind {
  std::string name;
  std::vector<Factor> row;  ///< bytes of one position
  int64_t n_kept = 0;       ///< positions of a sequence, 0: all of the context
  bool is_source = false;   ///< positions of the encoder's output
  int64_t n_layer = 0;

  bool is_same(const LayerKind& other) const { return name == other.name && row_bytes() == other.row_bytes(); }
  int64_t row_bytes() const {
    int64_t n = 1;
    for (const Factor& factor : row) n = sat_mul(n, factor.value);
    return n;
  }
};

bool is_latent(const AttentionSpec& attn) { return attn.kv_lora_rank > 0; }

// Scales are in the bytes of a head's row, so types without them read "d_head x 2 B".
void add_head_row(std::string name, CacheType type, int64_t width, std::vector<Factor>* row) {
  if (cache_type_info(type).scale_block == 0) {
    row->push_back({std::move(name), width});
    row->push_back({"", cache_type_info(type).element_bytes, " B"});
  } else {
    row->push_back({fmt::format("row of {}", name), cache_row_bytes(type, width), " B"});
  }
}

LayerKind latent_kind(const AttentionSpec& attn, CacheType type) {
  LayerKind kind{.name = "latent layers"};
  add_head_row("(kv_lora_rank + d_head_rope)", type, attn.kv_lora_rank + attn.d_head_rope, &kind.row);
  return kind;
}

LayerKind head_kind(const AttentionSpec& attn, CacheType type) {
  // Latent attention expanded has a key and a value for every query head.
  const int64_t n_kv_head = is_latent(attn) ? attn.n_head : attn.n_kv_head;
  LayerKind kind{.name = "full layers"};
  if (attn.d_head_v == attn.d_head) {
    kind.row = {{"(K, V)", 2}, {"n_kv_head", n_kv_head}};
    add_head_row("d_head", type, attn.d_head, &kind.row);
  } else {
    kind.row = {{"n_kv_head", n_kv_head}};
    add_head_row("(d_head + d_head_v)", type, attn.d_head + attn.d_head_v, &kind.row);
  }
  return kind;
}

LayerKind layer_kind(const AttentionSpec& attn, CacheType type, bool is_latent_expanded) {
  return is_latent(attn) && !is_latent_expanded ? latent_kind(attn, type) : head_kind(attn, type);
}

void add_kind(LayerKind kind, std::vector<LayerKind>* kinds) {
  auto at = std::find_if(kinds->begin(), kinds->end(), [&](const LayerKind& other) { return other.is_same(kind); });
  if (at == kinds->end()) at = kinds->insert(at, std::move(kind));
  ++at->n_layer;
}

// Encoders look at everything at once and keep nothing.
bool has_cache(const ModelConfig& config) { return config.kind != ModelKind::kEncoder; }

std::vector<LayerKind> layer_kinds(const ModelConfig& config, const CachePolicy& policy, int64_t n_source) {
  std::vector<LayerKind> kinds;
  for (const BlockSpec& block : config.blocks) {
    LayerKind kind = layer_kind(block.attn, policy.type, policy.is_latent_expanded);
    if (policy.keeps_only_windows && block.attn.mask == MaskKind::kWindow) {
      kind.name = fmt::format("layers with window {}", block.attn.window);
      kind.n_kept = block.attn.window;
    }
    add_kind(std::move(kind), &kinds);
    if (!block.has_cross_attention || n_source == 0) continue;
    LayerKind cross = head_kind(block.attn, policy.type);
    cross.name = "cross attention";
    cross.is_source = true;
    add_kind(std::move(cross), &kinds);
  }
  return kinds;
}

Factor kept_positions(const LayerKind& kind, const CachePolicy& policy, int64_t n_ctx, int64_t n_source) {
  if (kind.is_source) return {"n_source", n_source};
  const std::string in_pages = policy.page_size > 1 ? fmt::format(" in pages of {}", policy.page_size) : "";
  const int64_t n_all = sat_mul(sat_ceil_div(n_ctx, policy.page_size), policy.page_size);
  if (kind.n_kept == 0) return {"n_ctx" + in_pages, n_all};
  if (policy.page_size == 1 || kind.n_kept > kMaxContext) return {"min(n_ctx, window)", std::min(kind.n_kept, n_all)};
  const int64_t n_pages = window_pages_for(n_ctx, kind.n_kept, policy.n_batch, policy.page_size);
  return {"window + n_batch" + in_pages, sat_mul(n_pages, policy.page_size)};
}

}  // namespace

int64_t layer_cache_bytes_per_token(const AttentionSpec& attn, CacheType type, bool is_latent_expanded) {
  return layer_kind(attn, type, is_latent_expanded).row_bytes();
}

int64_t cache_bytes_per_token(const ModelConfig& config, CacheType type, bool is_latent_expanded) {
  int64_t n = 0;
  for (const BlockSpec& block : config.blocks) {
    n = sat_add(n, layer_cache_bytes_per_token(block.attn, type, is_latent_expanded));
  }
  return has_cache(config) ? n : 0;
}

PlanItem cache_item(const ModelConfig& config, const CachePolicy& policy, int64_t n_ctx, int64_t n_sequences,
                    int64_t n_source) {
  if (!has_cache(config)) return sum_item("cache", {}, ItemKind::kCache);
  std::vector<PlanItem> parts;
  for (const LayerKind& kind : layer_kinds(config, policy, n_source)) {
    std::vector<Factor> factors = {{"n_sequences", n_sequences},
                                   kept_positions(kind, policy, n_ctx, n_source),
                                   {kind.n_layer == config.n_layer() ? "n_layer" : "layers", kind.n_layer}};
    factors.insert(factors.end(), kind.row.begin(), kind.row.end());
    parts.push_back(product_item(kind.name, factors));
  }
  return sum_item("cache", std::move(parts), ItemKind::kCache);
}

}  // namespace vitro
