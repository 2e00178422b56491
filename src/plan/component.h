// Component: which part of a model a tensor belongs to, by our name of its slot. The one place where names of slots
// become owners on the plan's screen.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace vitro {

/// X-macro: enum name, printed name, the group it is summed under, what it is.
// clang-format off
#define VITRO_COMPONENTS(X)                                                                            \
  X(kEmbedding, "embedding", "embedding and head", "token vectors, and projections of them")           \
  X(kPositions, "positions", "embedding and head", "learned positions, token types, relative biases")  \
  X(kQ, "q", "attention", "queries")                                                                   \
  X(kK, "k", "attention", "keys")                                                                      \
  X(kV, "v", "attention", "values")                                                                    \
  X(kO, "o", "attention", "output projection")                                                         \
  X(kLatent, "latent q, k, v", "attention", "low-rank projections of latent attention (MLA)")          \
  X(kSinks, "sinks", "attention", "a learned logit a head")                                            \
  X(kCross, "cross attention", "attention", "q, k, v, o over the encoder's output")                    \
  X(kFfn, "ffn", "feed-forward", "gate, up, down of dense layers")                                     \
  X(kRouter, "router", "feed-forward", "logits of the experts")                                        \
  X(kExperts, "experts", "feed-forward", "routed experts; a token passes a few of them")               \
  X(kShared, "shared experts", "feed-forward", "experts that every token passes")                      \
  X(kNorms, "norms", "norms", "gains and biases of all norms")                                         \
  X(kPooler, "pooler", "embedding and head", "matrix over the first token")                            \
  X(kHead, "head", "embedding and head", "logits; nothing where it is tied to the embedding")
// clang-format on

enum class Component : uint8_t {
#define VITRO_X(name, text, group, doc) name,
  VITRO_COMPONENTS(VITRO_X)
#undef VITRO_X
};
inline constexpr int kNComponents = static_cast<int>(Component::kHead) + 1;

std::string_view component_name(Component component);
std::string_view component_group(Component component);

/// Of a slot's name: "blocks.3.attn.w_q" -> kQ. Nothing for tables that are no parameters ("rope_factors").
std::optional<Component> component_of(std::string_view slot_name);

/// Where a slot stands: the block and what its name says inside it. "encoder.blocks.3.attn.w_q": 3, "attn.w_q".
struct SlotPlace {
  bool is_encoder = false;  ///< of an encoder-decoder's encoder
  int64_t layer = -1;       ///< -1: outside the blocks
  std::string_view name;
};
SlotPlace place_of(std::string_view slot_name);

/// Which rows pass a tensor of the model, for its FLOPs.
enum class RowsOf : uint8_t {
  kTokens,  ///< every row of a decoder's (or a lone encoder's) pass
  kSource,  ///< rows of the encoder of an encoder-decoder; cross attention's K and V too
  kLogits,  ///< rows that logits are asked for
  kNone     ///< looked up, added, not multiplied: embeddings, positions
};
inline constexpr int kNRowsOf = static_cast<int>(RowsOf::kNone) + 1;
RowsOf rows_of(std::string_view slot_name);

}  // namespace vitro
