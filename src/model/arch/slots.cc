#include "model/arch/slots.h"

#include <algorithm>
#include <iterator>

#include "model/arch/layer_slots.h"
#include "model/arch/slot_builder.h"

namespace vitro {
namespace {

constexpr std::string_view kNoRoot[] = {""};

const RopeSpec* first_with(const ModelConfig& config, RopeScaling scaling) {
  for (const BlockSpec& block : config.blocks) {
    if (block.attn.position == PositionKind::kRope && block.attn.rope.scaling == scaling) return &block.attn.rope;
  }
  return nullptr;
}

void add_rope_factors(SlotBuilder& builder, const ModelConfig& config) {
  const ModuleNames& names = builder.names();
  if (const RopeSpec* rope = first_with(config, RopeScaling::kFactors)) {
    builder.add_table("rope_factors", names.rope_factors, ".weight", rope->d_rot / 2);
    builder.last().is_optional = true;
  }
  const RopeSpec* rope = first_with(config, RopeScaling::kLongRope);
  if (!rope || !rope->short_factors.empty()) return;
  builder.add_table("rope_factors_short", names.rope_factors_short, ".weight", rope->d_rot / 2);
  builder.add_table("rope_factors_long", names.rope_factors_long, ".weight", rope->d_rot / 2);
}

void add_embedding(SlotBuilder& builder, const ModelConfig& config) {
  const ModuleNames& names = builder.names();
  builder.add_plain("embed.w", names.embed, {config.vocab_size, config.embed_width()});
  if (config.d_embed > 0) builder.add_plain("embed_in.w", names.embed_in, {config.d_model, config.d_embed});
}

/// What is added to the embedding of a stack, and its norm.
void add_positions(SlotBuilder& builder, const ModelConfig& config) {
  const ModuleNames& names = builder.names();
  if (config.position == PositionKind::kLearned) {
    builder.add_plain("pos_embed.w", names.pos_embed, {config.n_position_rows, config.d_model});
  }
  if (config.n_token_types > 0) {
    builder.add_plain("token_type.w", names.token_type, {config.n_token_types, config.d_model});
  }
  builder.add_norm("embed_norm", names.embed_norm, config.embed_norm, config.d_model);
}

void add_blocks(SlotBuilder& builder, const ModelConfig& config, const std::vector<BlockSpec>& blocks) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    builder.enter_block(i);
    add_block_slots(builder, config, blocks[i]);
  }
  builder.leave_blocks();
  builder.add_norm("final_norm", builder.names().final_norm, config.final_norm, config.d_model);
}

void add_head(SlotBuilder& builder, const ModelConfig& config) {
  const ModuleNames& names = builder.names();
  const int64_t d = config.d_model;
  if (config.has_pooler) builder.add_linear("pooler.w", "pooler.b", names.pooler, {d, d});
  if (config.d_embed > 0) builder.add_plain("embed_out.w", names.embed_out, {config.d_embed, d});
  if (config.head == HeadKind::kNone) return;
  builder.set_roots(kNoRoot);
  if (config.has_head_transform) {
    builder.add_linear("unembed.transform.w", "unembed.transform.b", names.head_transform, {d, d});
  }
  if (config.head == HeadKind::kMaskedLm) {
    builder.add_norm("unembed.norm", names.head_norm, config.blocks.front().norm, d);
  }
  const bool has_classes = config.head == HeadKind::kTextClasses || config.head == HeadKind::kTokenClasses;
  const int64_t n_out = has_classes ? config.n_class : config.vocab_size;
  if (!config.is_head_tied) builder.add_plain("unembed.w", names.unembed, {n_out, config.embed_width()});
  if (!config.has_head_bias) return;
  builder.add_vector("unembed.b", names.head_bias.empty() ? names.unembed : names.head_bias, ".bias", n_out);
}

}  // namespace

std::vector<TensorSlot> decoder_slots(const ModelConfig& config, const ModuleNames& names) {
  SlotBuilder builder(names, "");
  add_embedding(builder, config);
  add_positions(builder, config);
  add_rope_factors(builder, config);
  add_blocks(builder, config, config.blocks);
  add_head(builder, config);
  return builder.take();
}

std::vector<TensorSlot> encoder_decoder_slots(const ModelConfig& config, const ModuleNames& encoder,
                                              const ModuleNames& decoder) {
  SlotBuilder embedding(decoder, "");
  add_embedding(embedding, config);
  std::vector<TensorSlot> slots = embedding.take();
  SlotBuilder first(encoder, "encoder.");
  add_positions(first, config);
  add_blocks(first, config, config.encoder_blocks);
  SlotBuilder second(decoder, "");
  add_positions(second, config);
  add_blocks(second, config, config.blocks);
  add_head(second, config);
  for (SlotBuilder* builder : {&first, &second}) {
    std::vector<TensorSlot> more = builder->take();
    std::move(more.begin(), more.end(), std::back_inserter(slots));
  }
  return slots;
}

std::vector<TensorSlot> decoder_slots(const ModelConfig& config, const ModuleNames& names, const ModuleNames& others) {
  std::vector<TensorSlot> slots = decoder_slots(config, names);
  std::vector<TensorSlot> more = decoder_slots(config, others);
  for (size_t i = 0; i < slots.size(); ++i) {
    for (TensorSource& source : more[i].sources) slots[i].sources.push_back(std::move(source));
  }
  return slots;
}

TensorSlot skipped_tensors(std::string what, std::string prefix) {
  TensorSlot slot{.name = std::move(what), .use = SlotUse::kSkipped, .is_optional = true, .is_parameter = false};
  slot.sources.push_back({.name = std::move(prefix)});
  return slot;
}

TensorSlot next_token_tensors(const ModelConfig& config) {
  return skipped_tensors("the layer that guesses one token more (multi-token prediction)",
                         "model.layers." + std::to_string(config.n_layer()) + ".");
}

}  // namespace vitro
