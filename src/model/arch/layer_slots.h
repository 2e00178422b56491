// The slots of one layer: norms, attention of every kind, feed-forward or experts.
#pragma once

#include "model/arch/slot_builder.h"
#include "model/config.h"

namespace vitro {

/// All slots of the block that the builder stands in, in forward order.
void add_block_slots(SlotBuilder& builder, const ModelConfig& config, const BlockSpec& block);
/// Its parts.
void add_attention_slots(SlotBuilder& builder, const ModelConfig& config, const AttentionSpec& attn);
void add_cross_attention_slots(SlotBuilder& builder, const ModelConfig& config, const AttentionSpec& attn);
void add_feed_forward_slots(SlotBuilder& builder, const ModelConfig& config, const FeedForwardSpec& ffn);

}  // namespace vitro
