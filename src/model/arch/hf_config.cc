#include "model/arch/hf_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace vitro {
namespace {

// Read by training code, by generate() or by people; nothing here changes a logit. auto_map names Python code of the
// publisher: it is never fetched and never run.
constexpr std::string_view kHarmlessKeys[] = {
    // who made it
    "_name_or_path", "architectures", "auto_map", "model_type", "transformers_version", "tokenizer_class",
    "finetuning_task", "name", "task_specific_params", "problem_type", "id2label", "label2id", "_commit_hash",
    "_num_labels", "num_labels", "is_llama_config", "transformers.js_config", "unsloth_fixed",
    // storage and execution
    "dtype", "torch_dtype", "use_cache", "use_bfloat16", "torchscript", "gradient_checkpointing", "attn_implementation",
    "_attn_implementation", "_attn_implementation_autoset", "_flash_attn_2_enabled", "use_flash_attn",
    "output_attentions", "output_hidden_states", "return_dict", "return_dict_in_generate", "output_scores",
    "cache_implementation",
    // training
    "initializer_range", "initializer_factor", "attention_dropout", "hidden_dropout", "attention_probs_dropout_prob",
    "hidden_dropout_prob", "resid_pdrop", "embd_pdrop", "emb_pdrop", "attn_pdrop", "dropout", "activation_dropout",
    "embed_dropout", "embedding_dropout", "resid_dropout", "residual_dropout", "layerdrop", "classifier_dropout",
    "init_std", "summary_activation", "summary_first_dropout", "summary_proj_to_labels", "summary_type",
    "summary_use_proj", "is_decoder", "tie_encoder_decoder",
    // special tokens and generation defaults (generation_config.json is where they are read)
    "pad_token_id", "unk_token_id", "sep_token_id", "cls_token_id", "mask_token_id", "decoder_start_token_id",
    "forced_bos_token_id", "forced_eos_token_id", "suppress_tokens", "begin_suppress_tokens", "bad_words_ids",
    "max_length", "max_new_tokens", "min_length", "do_sample", "early_stopping", "num_beams", "num_beam_groups",
    "diversity_penalty", "temperature", "top_k", "top_p", "typical_p", "repetition_penalty",
    "encoder_no_repeat_ngram_size", "no_repeat_ngram_size", "length_penalty", "num_return_sequences",
    "exponential_decay_length_penalty", "remove_invalid_values", "prefix"};

/// config.json says in "architectures" which head the weights carry; only language models (and bare bodies) are read
/// here.
void check_head(ConfigReader& reader, const Value& config) {
  const Value* names = config.find("architectures");
  if (!names || !names->as_array()) return;
  for (const Value& item : *names->as_array()) {
    const std::string* name = item.as_string();
    if (!name || name->ends_with("ForCausalLM") || name->ends_with("LMHeadModel") || name->ends_with("Model")) continue;
    reader.problem(
        fmt::format("'architectures' names {}: only language-model heads are implemented", to_string(item, 60)));
  }
}

struct ActivationName {
  std::string_view name;
  ActivationKind kind;
};
constexpr ActivationName kActivations[] = {
    {"silu", ActivationKind::kSilu},          {"swish", ActivationKind::kSilu},
    {"gelu", ActivationKind::kGeluErf},       {"gelu_python", ActivationKind::kGeluErf},
    {"gelu_new", ActivationKind::kGeluTanh},  {"gelu_pytorch_tanh", ActivationKind::kGeluTanh},
    {"gelu_fast", ActivationKind::kGeluTanh}, {"relu", ActivationKind::kRelu},
    {"relu2", ActivationKind::kReluSquared},  {"quick_gelu", ActivationKind::kQuickGelu}};

int32_t token_id(ConfigReader& reader, std::string_view key, const Value& value) {
  const int64_t* id = value.as_int();
  if (id && *id >= -1 && *id <= std::numeric_limits<int32_t>::max()) return static_cast<int32_t>(*id);
  reader.problem(fmt::format("'{}' must be a token id, found {}", key, to_string(value, 40)));
  return -1;
}

/// A real that stands in `object`, or outside it under another name; both with different values are a problem.
double nested_real(ConfigReader& outer, ConfigReader* object, std::string_view ours, ConfigReader::Names inside,
                   ConfigReader::Names outside, double default_value) {
  if (!object || !object->has(inside)) return outer.get_real(ours, outside, default_value);
  const double value = object->get_real(ours, inside, default_value);
  if (outer.has(outside)) {
    const double other = outer.get_real(ours, outside, default_value);
    if (other != value) {
      outer.problem(fmt::format("'{}' = {} inside the RoPE description and '{}' = {} outside differ", *inside.begin(),
                                value, *outside.begin(), other));
    }
  }
  return value;
}

RopeScaling scaling_kind(ConfigReader& reader, const std::string& name) {
  if (name == "default" || name == "none") return RopeScaling::kNone;
  if (name == "linear") return RopeScaling::kLinear;
  if (name == "ntk") return RopeScaling::kNtk;
  if (name == "dynamic") return RopeScaling::kDynamic;
  if (name == "yarn") return RopeScaling::kYarn;
  if (name == "longrope" || name == "su") return RopeScaling::kLongRope;
  if (name == "llama3") return RopeScaling::kLlama3;
  reader.problem(
      fmt::format("RoPE scaling {} is not implemented (known: default, linear, ntk, dynamic, yarn, longrope, llama3)",
                  to_string(Value(name), 40)));
  return RopeScaling::kNone;
}

int64_t original_length(ConfigReader& object, const RopeFrame& frame, const std::string& ours) {
  const int64_t outside = frame.n_ctx_original > 0 ? frame.n_ctx_original : frame.n_ctx;
  return object.get_size(ours + ".n_ctx_original", {"original_max_position_embeddings"}, outside, kMaxContext);
}

void read_yarn(ConfigReader& object, const RopeFrame& frame, const std::string& ours, RopeSpec* rope) {
  rope->n_ctx_original = original_length(object, frame, ours);
  const double ratio = static_cast<double>(frame.n_ctx) / static_cast<double>(rope->n_ctx_original);
  rope->factor = object.get_real(ours + ".factor", {"factor"}, ratio);
  rope->beta_fast = object.get_real(ours + ".beta_fast", {"beta_fast"}, 32.0);
  rope->beta_slow = object.get_real(ours + ".beta_slow", {"beta_slow"}, 1.0);
  rope->mscale = object.get_real(ours + ".mscale", {"mscale"}, 0.0);
  rope->mscale_all_dim = object.get_real(ours + ".mscale_all_dim", {"mscale_all_dim"}, 0.0);
  rope->attention_factor = object.get_real(ours + ".attention_factor", {"attention_factor"}, 0.0);
  rope->is_truncated = object.get_bool(ours + ".is_truncated", {"truncate"}, true);
}

std::vector<double> read_factor_list(ConfigReader& object, const std::string& ours, ConfigReader::Names names) {
  std::vector<double> list = object.get_reals(ours, names);
  if (!list.empty() && std::ssize(list) <= kMaxRopeFactors) return list;
  object.problem(fmt::format("'{}' has {} numbers, expected 1 to {}", *names.begin(), list.size(), kMaxRopeFactors));
  return {};
}

void read_longrope(ConfigReader& object, const RopeFrame& frame, const std::string& ours, RopeSpec* rope) {
  rope->n_ctx_original = original_length(object, frame, ours);
  // The ratio of the lengths decides where both are known; "factor" in the file repeats it.
  rope->factor = static_cast<double>(frame.n_ctx) / static_cast<double>(rope->n_ctx_original);
  if (object.has({"factor"})) rope->factor = object.get_real(ours + ".factor", {"factor"}, rope->factor);
  rope->attention_factor = object.get_real(ours + ".attention_factor", {"attention_factor"}, 0.0);
  // Phi-MoE says it for each list.
  if (object.has({"short_mscale"})) {
    rope->attention_factor = object.get_real(ours + ".attention_factor", {"short_mscale"}, 1.0);
    if (object.get_real(ours + ".attention_factor", {"long_mscale"}, rope->attention_factor) !=
        rope->attention_factor) {
      object.problem("'short_mscale' and 'long_mscale' differ, which is not implemented");
    }
  }
  rope->short_factors = read_factor_list(object, ours + ".short_factors", {"short_factor"});
  rope->long_factors = read_factor_list(object, ours + ".long_factors", {"long_factor"});
}

void read_scaling(ConfigReader& object, const RopeFrame& frame, const std::string& ours, RopeSpec* rope) {
  // Factors without a kind are no description.
  const ConfigReader::Names names = {"rope_type", "type"};
  const bool is_stretched = object.has({"factor", "short_factor", "long_factor"});
  rope->scaling = scaling_kind(object, is_stretched ? object.need_string(ours + ".scaling", names, "default")
                                                    : object.get_string(ours + ".scaling", names, "default"));
  switch (rope->scaling) {
    case RopeScaling::kNone:
    case RopeScaling::kFactors:
      return;
    case RopeScaling::kLinear:
    case RopeScaling::kNtk:
      rope->factor = object.need_real(ours + ".factor", {"factor"});
      return;
    case RopeScaling::kDynamic:
      rope->factor = object.need_real(ours + ".factor", {"factor"});
      rope->n_ctx_original = frame.n_ctx;
      object.expect_int("original_max_position_embeddings", frame.n_ctx);
      return;
    case RopeScaling::kYarn:
      return read_yarn(object, frame, ours, rope);
    case RopeScaling::kLongRope:
      return read_longrope(object, frame, ours, rope);
    case RopeScaling::kLlama3:
      rope->factor = object.need_real(ours + ".factor", {"factor"});
      rope->low_freq_factor = object.need_real(ours + ".low_freq_factor", {"low_freq_factor"});
      rope->high_freq_factor = object.need_real(ours + ".high_freq_factor", {"high_freq_factor"});
      rope->n_ctx_original =
          object.need_size(ours + ".n_ctx_original", {"original_max_position_embeddings"}, kMaxContext);
      return;
  }
}

}  // namespace

ConfigReader hf_reader(const Value& config) {
  ConfigReader reader(config, "", "config.json");
  check_head(reader, config);
  read_hf_common_keys(reader);
  return reader;
}

void read_hf_common_keys(ConfigReader& reader, bool is_encoder_decoder) {
  reader.ignore(kHarmlessKeys);
  reader.expect_bool("is_encoder_decoder", is_encoder_decoder);
  for (const std::string_view key :
       {"add_cross_attention", "cross_attention_hidden_size", "chunk_size_feed_forward", "pruned_heads"}) {
    reader.expect_off(key);
  }
}

void read_hf_token_ids(ConfigReader& reader, ModelConfig* config) {
  if (const Value* bos = reader.get_value({"bos_token_id"})) config->bos_id = token_id(reader, "bos_token_id", *bos);
  const Value* eos = reader.get_value({"eos_token_id"});
  if (!eos) return;
  const Value::Array one = {*eos};
  for (const Value& id : eos->as_array() ? *eos->as_array() : one) {
    if (const int32_t eos_id = token_id(reader, "eos_token_id", id); eos_id >= 0) config->eos_ids.push_back(eos_id);
  }
}

DecoderSizes read_hf_sizes(ConfigReader& reader, const HfDefaults& defaults, ModelConfig* config) {
  DecoderSizes sizes;
  config->d_model = reader.need_size("d_model", {"hidden_size", "n_embd", "n_embed", "d_model"});
  sizes.n_layer = reader.need_size("n_layer", {"num_hidden_layers", "n_layer", "n_layers", "num_layers"}, kMaxLayers);
  config->vocab_size = reader.need_size("vocab_size", {"vocab_size"}, kMaxVocab);
  config->n_ctx =
      reader.get_size("n_ctx", {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length"},
                      defaults.n_ctx, kMaxContext);
  sizes.n_head = reader.need_size("attn.n_head", {"num_attention_heads", "n_head", "n_heads", "num_heads"});
  sizes.n_kv_head = defaults.n_kv_head > 0 ? defaults.n_kv_head : sizes.n_head;
  if (defaults.has_n_kv_head) {
    sizes.n_kv_head = reader.get_size("attn.n_kv_head", {"num_key_value_heads"}, sizes.n_kv_head);
  }
  sizes.d_head = defaults.d_head > 0 ? defaults.d_head : config->d_model / sizes.n_head;
  if (defaults.has_d_head) sizes.d_head = reader.get_size("attn.d_head", {"head_dim"}, sizes.d_head);
  const ConfigReader::Names d_ff_names = {"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"};
  sizes.d_ff = defaults.d_ff_ratio > 0 ? reader.get_size("ffn.d_ff", d_ff_names, defaults.d_ff_ratio * config->d_model)
                                       : reader.need_size("ffn.d_ff", d_ff_names);
  config->is_head_tied = reader.get_bool("is_head_tied", {"tie_word_embeddings"}, defaults.is_head_tied);
  read_hf_token_ids(reader, config);
  return sizes;
}

ActivationKind read_hf_activation(ConfigReader& reader, std::initializer_list<std::string_view> keys,
                                  std::string_view default_name) {
  const std::string name = reader.get_string("ffn.activation", keys, default_name);
  for (const ActivationName& known : kActivations) {
    if (known.name == name) return known.kind;
  }
  reader.problem(
      fmt::format("'{}' = {} is not an activation that is known", *keys.begin(), to_string(Value(name), 40)));
  return ActivationKind::kSilu;
}

RopeSpec read_hf_rope_object(ConfigReader& reader, const Value* object, std::string_view key,
                             std::string_view ours_view, const RopeFrame& frame) {
  const std::string ours(ours_view);
  RopeSpec rope;
  std::optional<ConfigReader> inner;
  if (object) inner.emplace(reader.inner(*object, key));
  ConfigReader* nested = inner ? &*inner : nullptr;
  rope.theta =
      nested_real(reader, nested, ours + ".theta", {"rope_theta"}, {"rope_theta", "rotary_emb_base"}, frame.theta);
  const double fraction = nested_real(reader, nested, ours + ".fraction", {"partial_rotary_factor"},
                                      {"partial_rotary_factor", "rotary_pct"}, frame.fraction);
  if (nested) {
    read_scaling(*nested, frame, ours, &rope);
    reader.absorb(std::move(*inner));
  }
  if (fraction > 0.0 && fraction <= 1.0) {
    rope.d_rot = static_cast<int64_t>(static_cast<double>(frame.d_head) * fraction);
  } else {
    reader.problem(fmt::format("rotated part of a head is {} ('{}'), must be above 0 and at most 1", fraction,
                               reader.source_of(ours + ".fraction")));
  }
  return rope;
}

RopeSpec read_hf_rope(ConfigReader& reader, const RopeFrame& frame) {
  const Value* parameters = reader.get_value({"rope_parameters"});
  const Value* scaling = reader.get_value({"rope_scaling"});
  if (parameters && scaling && to_string(*parameters) != to_string(*scaling)) {
    reader.problem("'rope_parameters' and 'rope_scaling' are both there and differ");
  }
  if (parameters) return read_hf_rope_object(reader, parameters, "rope_parameters", "rope", frame);
  return read_hf_rope_object(reader, scaling, "rope_scaling", "rope", frame);
}

std::vector<MaskKind> read_hf_layer_types(ConfigReader& reader, int64_t n_layer) {
  const Value* value = reader.get_value({"layer_types"});
  if (!value) return {};
  const Value::Array* items = value->as_array();
  if (!items || static_cast<int64_t>(items->size()) != n_layer) {
    reader.problem(fmt::format("'layer_types' must be a list of {} names, found {} {}", n_layer,
                               items ? fmt::format("{}", items->size()) : std::string(value->kind_name()),
                               items ? "names" : ""));
    return {};
  }
  std::vector<MaskKind> masks;
  for (const Value& item : *items) {
    const std::string* name = item.as_string();
    if (name && *name == "full_attention") {
      masks.push_back(MaskKind::kCausal);
    } else if (name && *name == "sliding_attention") {
      masks.push_back(MaskKind::kWindow);
    } else {
      reader.problem(fmt::format("'layer_types' has {}: only full_attention and sliding_attention are known",
                                 to_string(item, 40)));
      return {};
    }
  }
  return masks;
}

UniformDecoder read_hf_rms_decoder(ConfigReader& reader, const HfDefaults& defaults, ModelConfig* config) {
  const DecoderSizes sizes = read_hf_sizes(reader, defaults, config);
  const double eps = reader.get_real("norm.eps", {"rms_norm_eps"}, defaults.eps);
  const ActivationKind activation = read_hf_activation(reader, {"hidden_act"}, "silu");
  RopeFrame frame = {
      .d_head = sizes.d_head, .n_ctx = config->n_ctx, .theta = defaults.theta, .fraction = defaults.rope_fraction};
  if (defaults.n_ctx_original > 0) {
    frame.n_ctx_original =
        reader.get_size("n_ctx_original", {"original_max_position_embeddings"}, defaults.n_ctx_original, kMaxContext);
  }
  UniformDecoder decoder{sizes, rms_block(sizes, read_hf_rope(reader, frame), eps)};
  decoder.block.ffn.activation = activation;
  return decoder;
}

int64_t read_hf_window(ConfigReader& reader, int64_t default_window) {
  if (reader.is_null("attn.window", "sliding_window")) return 0;
  if (default_window == 0 && !reader.has({"sliding_window"})) return 0;
  return reader.get_size("attn.window", {"sliding_window"}, default_window, kMaxContext);
}

LayerWindows read_hf_windows(ConfigReader& reader, const std::vector<MaskKind>& by_rule, int64_t default_window) {
  const bool is_on = reader.get_bool("attn.has_windows", {"use_sliding_window"}, false);
  LayerWindows windows{.masks = read_hf_layer_types(reader, static_cast<int64_t>(by_rule.size()))};
  const bool is_listed = !windows.masks.empty();
  if (!is_listed && is_on) windows.masks = by_rule;
  if (std::find(windows.masks.begin(), windows.masks.end(), MaskKind::kWindow) == windows.masks.end()) {
    reader.ignore({"sliding_window"});
    return windows;
  }
  windows.window = read_hf_window(reader, default_window);
  if (is_listed && (!is_on || windows.window == 0)) {
    reader.problem(
        "'layer_types' lists sliding_attention, which 'use_sliding_window' or 'sliding_window' switches off");
  }
  return windows;
}

}  // namespace vitro
