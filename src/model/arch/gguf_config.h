// What the metadata of GGUF decoders share: "{arch}." keys, RoPE, and the facts that GGUF keeps only as the presence or
// shape of a tensor (a tied head, biases, RoPE factors, the vocabulary). Key names: gguf's published constants.
#pragma once

#include <string_view>

#include "formats/weight_index.h"
#include "model/arch/config_reader.h"
#include "model/arch/hf_config.h"
#include "model/config.h"

namespace vitro {

/// Member of the description that holds tensor shapes by name (see with_tensor_table); no metadata key can be spelt
/// like this and survive, because with_tensor_table removes it first.
inline constexpr std::string_view kTensorTable = "(tensors)";

/// The metadata plus the shapes of the file's tensors (those of the first block stand for all blocks).
Value with_tensor_table(const Value& metadata, const WeightIndex& tensors);

/// Whether the file has a tensor of that name.
bool gguf_has_tensor(const Value& config, std::string_view name);
/// Outermost dimension of a tensor; 0 if there is none.
int64_t gguf_tensor_rows(const Value& config, std::string_view name);

/// A reader of "{arch}." keys that has refused the switches that no decoder here implements (pooling, non-causal
/// masks), and experts where the family does not read them.
ConfigReader gguf_reader(const Value& config, std::string_view arch);

/// Sizes, vocabulary, tied head.
DecoderSizes read_gguf_sizes(ConfigReader& reader, const Value& config, ModelConfig* out);
/// Whether a tensor of biases is there, recorded under `ours`.
bool read_gguf_bias(ConfigReader& reader, const Value& config, std::string_view ours, std::string_view tensor);
/// attention.sliding_window; 0 where there is none.
int64_t read_gguf_window(ConfigReader& reader);
/// Sizes, "attention.layer_norm_rms_epsilon" and RoPE of Llama's descendants; of `defaults` theta and fraction count.
UniformDecoder read_gguf_rms_decoder(ConfigReader& reader, const Value& config, ModelConfig* out,
                                     RopeFrame defaults = {});
/// Number, choice and width of the experts ("expert_count", ...); n_expert 0 where the file has none.
MoeSpec read_gguf_experts(ConfigReader& reader, int64_t d_ff);
/// RoPE of a model whose layers all rotate alike. rope_freqs.weight makes kFactors, rope_factors_long.weight makes
/// kLongRope.
RopeSpec read_gguf_rope(ConfigReader& reader, const Value& config, const RopeFrame& frame);

}  // namespace vitro
