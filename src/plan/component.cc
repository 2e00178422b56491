#include "plan/component.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace vitro {
namespace {

struct ComponentInfo {
  std::string_view name, group;
};

constexpr auto kInfos = std::to_array<ComponentInfo>({
#define VITRO_X(name, text, group, doc) {text, group},
    VITRO_COMPONENTS(VITRO_X)
#undef VITRO_X
});

constexpr std::string_view kEncoder = "encoder.";
constexpr std::string_view kBlocks = "blocks.";

// What is left of a name behind the stack and the number of the block.
std::string_view inside_block(std::string_view name) { return place_of(name).name; }

struct Beginning {
  std::string_view begin;
  Component component;
};

// The first that a name begins with; norms are found by their last part before.
constexpr auto kBeginnings = std::to_array<Beginning>({
    {"embed", Component::kEmbedding},
    {"pos_embed", Component::kPositions},
    {"token_type", Component::kPositions},
    {"attn.rel_bias", Component::kPositions},
    {"attn.w_q_", Component::kLatent},
    {"attn.w_kv_", Component::kLatent},
    {"attn.w_q", Component::kQ},
    {"attn.b_q", Component::kQ},
    {"attn.w_k", Component::kK},
    {"attn.b_k", Component::kK},
    {"attn.w_v", Component::kV},
    {"attn.b_v", Component::kV},
    {"attn.w_o", Component::kO},
    {"attn.b_o", Component::kO},
    {"attn.sinks", Component::kSinks},
    {"attn.b_", Component::kLatent},
    {"cross.", Component::kCross},
    {"ffn.router", Component::kRouter},
    {"ffn.experts", Component::kExperts},
    {"ffn.shared", Component::kShared},
    {"ffn.", Component::kFfn},
    {"pooler", Component::kPooler},
    {"unembed", Component::kHead},
});

bool is_norm(std::string_view name) { return name.find("norm.") != std::string_view::npos; }

// Tables that belong to the model but that gradients do not train.
bool is_table(std::string_view name) { return name.starts_with("rope_factors") || name.ends_with("selection_bias"); }

}  // namespace

std::string_view component_name(Component component) { return kInfos[static_cast<size_t>(component)].name; }
std::string_view component_group(Component component) { return kInfos[static_cast<size_t>(component)].group; }

SlotPlace place_of(std::string_view slot_name) {
  SlotPlace place{.is_encoder = slot_name.starts_with(kEncoder), .name = slot_name};
  if (place.is_encoder) place.name.remove_prefix(kEncoder.size());
  if (!place.name.starts_with(kBlocks)) return place;
  place.name.remove_prefix(kBlocks.size());
  std::from_chars(place.name.data(), place.name.data() + place.name.size(), place.layer);
  place.name.remove_prefix(std::min(place.name.find('.') + 1, place.name.size()));
  return place;
}

std::optional<Component> component_of(std::string_view slot_name) {
  const std::string_view name = inside_block(slot_name);
  if (is_table(name)) return std::nullopt;
  // Norms of heads that have one each are "attn.q_norm.3.gain".
  if (is_norm(name)) return Component::kNorms;
  for (const Beginning& row : kBeginnings) {
    if (name.starts_with(row.begin)) return row.component;
  }
  return std::nullopt;
}

RowsOf rows_of(std::string_view slot_name) {
  const std::string_view name = inside_block(slot_name);
  const bool is_projection = name.starts_with("embed_in") || name.starts_with("embed_out");
  if (name.starts_with("unembed") || name.starts_with("embed_out") || name.starts_with("pooler"))
    return RowsOf::kLogits;
  const auto component = component_of(slot_name);
  if (!component || *component == Component::kPositions) return RowsOf::kNone;
  if (*component == Component::kEmbedding && !is_projection) return RowsOf::kNone;
  if (slot_name.starts_with(kEncoder) || name.starts_with("cross.w_k") || name.starts_with("cross.w_v")) {
    return RowsOf::kSource;
  }
  return RowsOf::kTokens;
}

}  // namespace vitro
