#include "model/arch/gguf_config.h"

#include <fmt/core.h>

#include <cmath>

namespace vitro {
namespace {

Value shape_value(const Shape& shape) {
  Value::Array dims;
  for (int axis = 0; axis < shape.rank(); ++axis) dims.emplace_back(shape[axis]);
  return Value(std::move(dims));
}

const Value* find_tensor(const Value& config, std::string_view name) {
  const Value* table = config.find(kTensorTable);
  return table ? table->find(name) : nullptr;
}

void read_yarn(ConfigReader& reader, int64_t trained, RopeSpec* rope) {
  rope->n_ctx_original = trained;
  rope->beta_fast = reader.get_real("rope.beta_fast", {"rope.scaling.yarn_beta_fast"}, 32.0);
  rope->beta_slow = reader.get_real("rope.beta_slow", {"rope.scaling.yarn_beta_slow"}, 1.0);
}

/// The kind of stretching, from the metadata and from the tensors that carry factors.
RopeScaling scaling_kind(ConfigReader& reader, const Value& config) {
  const bool has_factor = reader.has({"rope.scaling.factor", "rope.scale_linear"});
  const std::string name = reader.get_string("rope.scaling", {"rope.scaling.type"}, has_factor ? "linear" : "none");
  const bool has_factors = gguf_has_tensor(config, "rope_freqs.weight");
  const bool has_long_factors = gguf_has_tensor(config, "rope_factors_long.weight");
  if (name == "none" || (name == "longrope" && has_long_factors)) {
    if (has_long_factors) return RopeScaling::kLongRope;
    if (!has_factors) return RopeScaling::kNone;
    reader.note("rope.scaling", "tensor rope_freqs.weight", "factors", ValueOrigin::kFile);
    return RopeScaling::kFactors;
  }
  if (has_factors || has_long_factors) {
    reader.problem(fmt::format("RoPE scaling '{}' together with a tensor of RoPE factors is not implemented", name));
  }
  if (name == "linear") return RopeScaling::kLinear;
  if (name == "yarn") return RopeScaling::kYarn;
  reader.problem(fmt::format("RoPE scaling {} is not implemented (known: none, linear, yarn, longrope)",
                             to_string(Value(name), 40)));
  return RopeScaling::kNone;
}

}  // namespace

Value with_tensor_table(const Value& metadata, const WeightIndex& tensors) {
  Value::Object shapes;
  for (const WeightEntry& entry : tensors) {
    if (entry.name.starts_with("blk.") && !entry.name.starts_with("blk.0.")) continue;
    shapes.emplace_back(entry.name, shape_value(entry.shape));
  }
  Value::Object members;
  if (metadata.as_object()) {
    for (const Value::Member& member : *metadata.as_object()) {
      if (member.first != kTensorTable) members.push_back(member);
    }
  }
  members.emplace_back(kTensorTable, Value(std::move(shapes)));
  return Value(std::move(members));
}

bool gguf_has_tensor(const Value& config, std::string_view name) { return find_tensor(config, name) != nullptr; }

int64_t gguf_tensor_rows(const Value& config, std::string_view name) {
  const Value* shape = find_tensor(config, name);
  const Value::Array* dims = shape ? shape->as_array() : nullptr;
  const int64_t* rows = dims && !dims->empty() ? dims->front().as_int() : nullptr;
  return rows ? *rows : 0;
}

ConfigReader gguf_reader(const Value& config, std::string_view arch) {
  ConfigReader reader(config, fmt::format("{}.", arch), fmt::format("gguf metadata of '{}'", arch));
  for (const std::string_view key : {"expert_count", "expert_used_count", "pooling_type", "attention.max_alibi_bias",
                                     "attention.clamp_kqv", "nextn_predict_layers"}) {
    reader.expect_off(key);
  }
  reader.expect_bool("attention.causal", true);
  // Says only whether the file was tuned after stretching.
  reader.get_value({"rope.scaling.finetuned"});
  return reader;
}

DecoderSizes read_gguf_sizes(ConfigReader& reader, const Value& config, ModelConfig* out) {
  DecoderSizes sizes;
  out->d_model = reader.need_size("d_model", {"embedding_length"});
  sizes.n_layer = reader.need_size("n_layer", {"block_count"}, kMaxLayers);
  out->n_ctx = reader.need_size("n_ctx", {"context_length"}, kMaxContext);
  sizes.d_ff = reader.need_size("ffn.d_ff", {"feed_forward_length"});
  sizes.n_head = reader.need_size("attn.n_head", {"attention.head_count"});
  sizes.n_kv_head = reader.get_size("attn.n_kv_head", {"attention.head_count_kv"}, sizes.n_head);
  sizes.d_head = reader.get_size("attn.d_head", {"attention.key_length"}, out->d_model / sizes.n_head);
  if (reader.get_size("attn.d_head_v", {"attention.value_length"}, sizes.d_head) != sizes.d_head) {
    reader.problem(fmt::format("'{}' differs from '{}', which is not implemented", reader.source_of("attn.d_head_v"),
                               reader.source_of("attn.d_head")));
  }
  // Many files leave the vocabulary to the embedding's rows; where both are there, bind compares them.
  if (const int64_t rows = gguf_tensor_rows(config, "token_embd.weight"); rows > 0 && !reader.has({"vocab_size"})) {
    reader.note("vocab_size", "rows of token_embd.weight", fmt::format("{}", rows), ValueOrigin::kFile);
    out->vocab_size = rows;
  } else {
    out->vocab_size = reader.need_size("vocab_size", {"vocab_size"}, kMaxVocab);
  }
  out->is_head_tied = !gguf_has_tensor(config, "output.weight");
  reader.note("is_head_tied", "tensor output.weight", out->is_head_tied ? "true" : "false", ValueOrigin::kFile);
  return sizes;
}

UniformDecoder read_gguf_rms_decoder(ConfigReader& reader, const Value& config, ModelConfig* out, RopeFrame defaults) {
  const DecoderSizes sizes = read_gguf_sizes(reader, config, out);
  const double eps = reader.need_real("norm.eps", {"attention.layer_norm_rms_epsilon"});
  defaults.d_head = sizes.d_head;
  defaults.n_ctx = out->n_ctx;
  return {sizes, rms_block(sizes, read_gguf_rope(reader, config, defaults), eps)};
}

bool read_gguf_bias(ConfigReader& reader, const Value& config, std::string_view ours, std::string_view tensor) {
  const bool has_bias = gguf_has_tensor(config, tensor);
  reader.note(ours, fmt::format("tensor {}", tensor), has_bias ? "true" : "false", ValueOrigin::kFile);
  return has_bias;
}

MoeSpec read_gguf_experts(ConfigReader& reader, int64_t d_ff) {
  MoeSpec moe;
  if (reader.get_int("moe.n_expert", {"expert_count"}, 0) == 0) return moe;
  moe.n_expert = reader.need_size("moe.n_expert", {"expert_count"}, kMaxExperts);
  moe.n_expert_used = reader.need_size("moe.n_expert_used", {"expert_used_count"}, kMaxExperts);
  moe.d_ff_expert = reader.get_size("moe.d_ff_expert", {"expert_feed_forward_length"}, d_ff);
  return moe;
}

int64_t read_gguf_window(ConfigReader& reader) {
  const int64_t window = reader.get_int("attn.window", {"attention.sliding_window"}, 0);
  if (window >= 0 && window <= kMaxContext) return window;
  reader.problem(
      fmt::format("'{}' = {} must be between 0 (none) and {}", reader.source_of("attn.window"), window, kMaxContext));
  return 0;
}

RopeSpec read_gguf_rope(ConfigReader& reader, const Value& config, const RopeFrame& frame) {
  RopeSpec rope;
  rope.d_rot = reader.get_size("rope.d_rot", {"rope.dimension_count"},
                               static_cast<int64_t>(static_cast<double>(frame.d_head) * frame.fraction));
  rope.theta = reader.get_real("rope.theta", {"rope.freq_base"}, frame.theta);
  rope.scaling = scaling_kind(reader, config);
  // Phi-3 files carry the trained length even where nothing is stretched; a factor of 0 or 1 stretches nothing.
  const int64_t trained =
      reader.get_size("rope.n_ctx_original", {"rope.scaling.original_context_length"}, frame.n_ctx, kMaxContext);
  const double factor = reader.get_real("rope.factor", {"rope.scaling.factor", "rope.scale_linear"}, 1.0);
  // Where LongRoPE's is missing, 0 asks for the rule of its paper.
  const double attention_factor = reader.get_real("rope.attention_factor", {"rope.scaling.attn_factor"},
                                                  rope.scaling == RopeScaling::kLongRope ? 0.0 : 1.0);
  if (rope.scaling == RopeScaling::kLinear || rope.scaling == RopeScaling::kYarn) {
    rope.factor = factor;
  } else if (factor != 0.0 && factor != 1.0) {
    reader.problem(fmt::format("RoPE factor {} without a scaling type that uses it", factor));
  }
  if (rope.scaling == RopeScaling::kYarn) read_yarn(reader, trained, &rope);
  if (rope.scaling == RopeScaling::kLongRope) {
    rope.n_ctx_original = trained;
    rope.factor = static_cast<double>(frame.n_ctx) / static_cast<double>(trained);
    rope.attention_factor = attention_factor;
  } else if (attention_factor != 1.0) {
    reader.problem("'rope.scaling.attn_factor' is implemented for LongRoPE only");
  }
  return rope;
}

}  // namespace vitro
