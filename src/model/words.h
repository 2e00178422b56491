// A description in words, for people: what `vitro show`, `vitro verify --all` and the documents print. Pure functions.
#pragma once

#include <string>

#include "model/config.h"

namespace vitro {

/// "RMS norm, eps 1e-05, gain + 1".
std::string norm_words(const NormSpec& norm);
/// Of one layer: "32 heads of 96, 8 of keys and values, window 512, RoPE theta 10000 on 48 of 96".
std::string attention_words(const AttentionSpec& attn);
/// "112 neurons, gated SiLU", or "2 of 8 experts, gated SiLU".
std::string feed_forward_words(const FeedForwardSpec& ffn);
/// "8 x 112 neurons".
std::string expert_words(const FeedForwardSpec& ffn);
/// How experts are chosen: "softmax over all, renormalised", "sigmoid of each, best 4 of 8 groups, times 2.5".
std::string router_words(const MoeSpec& moe);

/// How all layers attend, short: "MHA", "GQA 4:2" (query heads to heads of keys and values), "MQA, window 8 in 5 of 6".
std::string attention_kind(const ModelConfig& config);
/// Where a model takes positions from, short: "learned", "RoPE halves", "RoPE adjacent on 8 of 16, YaRN x 4", "ALiBi",
/// "RoPE halves, none in 1 of 4". Several kinds of RoPE are told apart by their bases.
std::string position_kind(const ModelConfig& config);

}  // namespace vitro
