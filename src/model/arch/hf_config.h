// What the config.json files of all decoders share: sizes, token ids, activation names, RoPE in both spellings, and the
// keys that change nothing an engine computes. Spellings of transformers 4 (rope_theta, rope_scaling) and 5
// (rope_parameters) are both read.
#pragma once

#include <span>
#include <string_view>

#include "model/arch/config_reader.h"
#include "model/arch/decoder.h"
#include "model/config.h"

namespace vitro {

/// Values of the family where config.json says nothing; 0: n_kv_head = n_head, d_head = d_model / n_head.
struct HfDefaults {
  int64_t n_kv_head = 0;
  bool has_n_kv_head = true;  ///< false: the family knows no "num_key_value_heads", which is then refused like any key
  int64_t d_head = 0;
  bool has_d_head = true;  ///< false: "head_dim" is not read
  int64_t n_ctx = 2048;
  int64_t d_ff_ratio = 0;  ///< width of the feed-forward in units of d_model where the file has none; 0: it must
  bool is_head_tied = false;
  // For read_hf_rms_decoder.
  double eps = 1e-6;
  double theta = 10000.0;
  double rope_fraction = 1.0;  ///< rotated part of a head
  int64_t n_ctx_original = 0;  ///< of "original_max_position_embeddings" beside the RoPE description; 0: no such key
};

/// A reader of config.json that already knows the harmless keys and has refused the switches that no decoder here
/// implements (encoder-decoder, cross attention, pruned heads, classification heads).
ConfigReader hf_reader(const Value& config);
/// The same of an object inside config.json that is a configuration of its own.
void read_hf_common_keys(ConfigReader& reader, bool is_encoder_decoder = false);

/// Sizes, vocabulary, tied head and token ids, in Llama's spelling or in those of the GPTs (n_embd), BLOOM, OPT, MPT
/// and Falcon: no name means two things. Two spellings of one size that differ are a problem.
DecoderSizes read_hf_sizes(ConfigReader& reader, const HfDefaults& defaults, ModelConfig* config);
/// eos_token_id (a number or a list) and bos_token_id.
void read_hf_token_ids(ConfigReader& reader, ModelConfig* config);
/// The activation called `key` in the file; a problem if the name is unknown. "gelu" is the erf form.
ActivationKind read_hf_activation(ConfigReader& reader, std::initializer_list<std::string_view> keys,
                                  std::string_view default_name);

/// What a RoPE description leaves to its surroundings.
struct RopeFrame {
  int64_t d_head = 0;
  int64_t n_ctx = 0;           ///< max_position_embeddings
  int64_t n_ctx_original = 0;  ///< original_max_position_embeddings where it stands outside; 0: nowhere
  double theta = 10000.0;      ///< default of the family
  double fraction = 1.0;       ///< rotated part of a head, default of the family
};

/// RoPE of a model whose layers all rotate alike, from rope_parameters, or from rope_theta and rope_scaling.
RopeSpec read_hf_rope(ConfigReader& reader, const RopeFrame& frame);
/// RoPE from one object (null: only keys of the outer reader); `ours` names the values, e.g. "rope" or "rope.sliding".
RopeSpec read_hf_rope_object(ConfigReader& reader, const Value* object, std::string_view key, std::string_view ours,
                             const RopeFrame& frame);

/// What Llama's descendants say in the same words: sizes, "rms_norm_eps", "hidden_act", RoPE.
UniformDecoder read_hf_rms_decoder(ConfigReader& reader, const HfDefaults& defaults, ModelConfig* config);

/// One mask kind a layer from "layer_types"; empty if the file has no such list. Wrong length or unknown names are
/// problems.
std::vector<MaskKind> read_hf_layer_types(ConfigReader& reader, int64_t n_layer);
/// "sliding_window"; 0 (none) where the file says null, `default_window` where it says nothing.
int64_t read_hf_window(ConfigReader& reader, int64_t default_window);
/// Windows that "use_sliding_window" switches on: in the layers that "layer_types" names, or in those of `by_rule`
/// [n_layer] where the file has no such list. A list that asks for windows which are switched off is a problem.
/// default_window as in read_hf_window.
LayerWindows read_hf_windows(ConfigReader& reader, const std::vector<MaskKind>& by_rule, int64_t default_window);

/// Class defaults of a family with experts.
struct ExpertDefaults {
  int64_t n_expert = 8;
  int64_t n_expert_used = 2;
  int64_t d_ff_expert = 0;       ///< where "moe_intermediate_size" is missing
  bool has_d_ff_expert = true;   ///< false: the family knows no such key
  bool is_renormalised = false;  ///< of "norm_topk_prob"
  bool has_renormalised = true;  ///< false: the family knows no such key
};
/// Number, choice and width of the experts; the keys that only training reads are passed over.
MoeSpec read_hf_experts(ConfigReader& reader, const ExpertDefaults& defaults);
/// The same feed-forward with experts in place of its dense layer.
FeedForwardSpec with_experts(const FeedForwardSpec& dense, const MoeSpec& moe);

/// What the class in "architectures" puts on top of an encoder: kind, bias, number of classes.
void read_hf_head(ConfigReader& reader, const Value& config, ModelConfig* out);
/// Of an encoder-decoder: logits, or nothing for the bare body.
HeadKind read_hf_generator(ConfigReader& reader, const Value& config);

}  // namespace vitro
