#include "model/words.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace vitro {
namespace {

std::string_view scaling_name(RopeScaling scaling) {
  switch (scaling) {
    case RopeScaling::kNone:
      return "";
    case RopeScaling::kLinear:
      return "linear";
    case RopeScaling::kNtk:
      return "NTK";
    case RopeScaling::kDynamic:
      return "dynamic";
    case RopeScaling::kYarn:
      return "YaRN";
    case RopeScaling::kLongRope:
      return "LongRoPE";
    case RopeScaling::kLlama3:
      return "llama3";
    case RopeScaling::kFactors:
      return "factors of the file";
  }
  return "";
}

std::string_view activation_name(ActivationKind kind) {
  switch (kind) {
    case ActivationKind::kSilu:
      return "SiLU";
    case ActivationKind::kGeluTanh:
      return "GELU (tanh)";
    case ActivationKind::kGeluErf:
      return "GELU";
    case ActivationKind::kRelu:
      return "ReLU";
    case ActivationKind::kReluSquared:
      return "squared ReLU";
    case ActivationKind::kQuickGelu:
      return "quick GELU";
    case ActivationKind::kClampedSwiglu:
      return "clamped SwiGLU";
  }
  return "";
}

std::string_view score_name(RouterScore score) {
  switch (score) {
    case RouterScore::kSoftmax:
      return "softmax over all";
    case RouterScore::kSoftmaxSelected:
      return "softmax over the chosen";
    case RouterScore::kSigmoid:
      return "sigmoid of each";
    case RouterScore::kSparseMixer:
      return "one after the other";
  }
  return "";
}

/// " on 8 of 24", and `separator` before the stretching.
std::string rope_words(const RopeSpec& rope, int64_t d_head, std::string_view separator) {
  std::string words;
  if (rope.d_rot != d_head) words += fmt::format(" on {} of {}", rope.d_rot, d_head);
  if (rope.scaling != RopeScaling::kNone) words += fmt::format("{}{}", separator, scaling_name(rope.scaling));
  if (rope.factor != 1.0) words += fmt::format(" x {:g}", rope.factor);
  return words;
}

std::string mask_words(const AttentionSpec& attn) {
  switch (attn.mask) {
    case MaskKind::kCausal:
      return "causal";
    case MaskKind::kFull:
      return "all to all";
    case MaskKind::kWindow:
      return fmt::format("window {}", attn.window);
    case MaskKind::kStrided:
      return fmt::format("stride {}", attn.stride);
    case MaskKind::kFixedBlocks:
      return fmt::format("blocks of {}", attn.stride);
  }
  return "";
}

std::string head_kind(const AttentionSpec& attn) {
  if (attn.kv_lora_rank != 0) return "MLA";
  if (attn.n_kv_head == attn.n_head) return "MHA";
  return attn.n_kv_head == 1 ? "MQA" : fmt::format("GQA {}:{}", attn.n_head, attn.n_kv_head);
}

std::string rope_kind(const AttentionSpec& attn, bool has_base) {
  return fmt::format("RoPE {}{}{}", attn.rope.pairing == RopePairing::kHalves ? "halves" : "adjacent",
                     has_base ? fmt::format(" base {}", attn.rope.theta) : "",
                     rope_words(attn.rope, attn.d_head, ", "));
}

/// What layers add to the positions of the embedding.
std::string layer_position_kind(const AttentionSpec& attn, bool has_base) {
  switch (attn.position) {
    case PositionKind::kRope:
      return rope_kind(attn, has_base);
    case PositionKind::kAlibi:
      return "ALiBi";
    case PositionKind::kDistanceBuckets:
      return "distance buckets";
    default:
      return "none";
  }
}

/// The distinct words of all layers, in order of first use, each with " in 5 of 6" behind it where there are several.
/// `common` stands for the layers that need no mention.
template <class Words>
std::string by_layer(const ModelConfig& config, std::string_view common, Words words_of) {
  std::vector<std::pair<std::string, int64_t>> counts;
  for (const BlockSpec& block : config.blocks) {
    std::string words = words_of(block.attn);
    const auto it = std::find_if(counts.begin(), counts.end(), [&](const auto& count) { return count.first == words; });
    if (it != counts.end()) {
      ++it->second;
    } else {
      counts.emplace_back(std::move(words), 1);
    }
  }
  std::vector<std::string> parts;
  for (const auto& [words, count] : counts) {
    if (words == common) continue;
    parts.push_back(count == config.n_layer() ? words : fmt::format("{} in {} of {}", words, count, config.n_layer()));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string norm_words(const NormSpec& norm) {
  return fmt::format("{}, eps {:.3g}{}", norm.kind == NormKind::kRms ? "RMS norm" : "LayerNorm", norm.eps,
                     norm.gain_offset != 0.0 ? fmt::format(", gain + {:g}", norm.gain_offset) : "");
}

std::string attention_words(const AttentionSpec& attn) {
  std::string words = fmt::format("{} heads of {}", attn.n_head, attn.d_head);
  if (attn.kv_lora_rank > 0) words += fmt::format(", keys and values out of {}", attn.kv_lora_rank);
  if (attn.n_kv_head != attn.n_head) words += fmt::format(", {} of keys and values", attn.n_kv_head);
  words += ", " + mask_words(attn);
  if (attn.position != PositionKind::kRope) return words;
  return words + fmt::format(", RoPE theta {}", attn.rope.theta) + rope_words(attn.rope, attn.d_head, " ");
}

std::string feed_forward_words(const FeedForwardSpec& ffn) {
  const std::string size = ffn.moe.n_expert > 0
                               ? fmt::format("{} of {} experts", ffn.moe.n_expert_used, ffn.moe.n_expert)
                               : fmt::format("{} neurons", ffn.d_ff);
  return fmt::format("{}, {}{}", size, ffn.is_gated ? "gated " : "", activation_name(ffn.activation));
}

std::string expert_words(const FeedForwardSpec& ffn) {
  return fmt::format("{} x {} neurons", ffn.moe.n_expert, ffn.moe.d_ff_expert);
}

std::string router_words(const MoeSpec& moe) {
  std::string words(score_name(moe.score));
  if (moe.n_group > 1) words += fmt::format(", best {} of {} groups", moe.n_group_used, moe.n_group);
  if (moe.is_renormalised) words += ", renormalised";
  if (moe.routed_scale != 1.0) words += fmt::format(", times {:g}", moe.routed_scale);
  return words;
}

std::string attention_kind(const ModelConfig& config) {
  std::string kind = by_layer(config, "", head_kind);
  for (const std::string& more :
       {by_layer(config, "causal", mask_words),
        by_layer(config, "", [](const AttentionSpec& attn) { return attn.softcap != 0.0 ? "soft cap" : ""; }),
        by_layer(config, "", [](const AttentionSpec& attn) { return attn.has_sinks ? "sinks" : ""; })}) {
    if (!more.empty()) kind += ", " + more;
  }
  return kind;
}

std::string position_kind(const ModelConfig& config) {
  const bool has_bases = rope_kinds(config).size() > 1;
  const std::string layers =
      by_layer(config, "", [&](const AttentionSpec& attn) { return layer_position_kind(attn, has_bases); });
  if (config.position != PositionKind::kLearned && config.position != PositionKind::kSinusoidal) return layers;
  const std::string embedding = config.position == PositionKind::kLearned ? "learned" : "sinusoidal";
  return layers == "none" ? embedding : embedding + ", " + layers;
}

}  // namespace vitro
