#include "model/arch/from_sizes.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "formats/json.h"

namespace vitro {
namespace {

/// Width of the feed-forward: d_model numerator / denominator, rounded up to a multiple; numerator 0: the reader's own
/// default.
struct WidthRule {
  int64_t numerator = 0, denominator = 1, multiple = 1;
};
constexpr WidthRule kTwoThirds{8, 3, 256};  ///< 2/3 of 4 d_model (Shazeer 2020, arXiv 2002.05202), as Llama rounds it
constexpr WidthRule kFourTimes{4};

/// What the reference's class of one model type has where a file says nothing.
struct SizeRule {
  std::string_view type;
  int64_t vocab_size;
  int64_t d_head;  ///< n_head = d_model / d_head
  WidthRule d_ff;
  bool is_width_of_experts = false;       ///< the width of the feed-forward is that of each expert
  std::string_view more = {};             ///< further keys
  std::string_view alternating_key = {};  ///< a list that says global and local in turn for each layer
};
constexpr std::string_view kOssRope =
    R"({"rope_scaling": {"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": false,
        "original_max_position_embeddings": 4096}})";
constexpr SizeRule kRules[] = {
    {"openai-gpt", 40478, 64, {}},
    {"gpt2", 50257, 64, {}},
    {"gpt_neo", 50257, 128, {}, false, {}, "attention_layers"},
    {"gptj", 50400, 256, {}},
    {"gpt_neox", 50432, 96, kFourTimes},
    {"bloom", 250880, 128, {}},
    {"opt", 50272, 64, kFourTimes},
    {"mpt", 50368, 128, {}},
    {"falcon", 65024, 64, {}},
    {"llama", 32000, 128, kTwoThirds},
    {"mistral", 32000, 128, {7, 2, 256}},
    {"stablelm", 50304, 80, kTwoThirds},
    {"starcoder2", 49152, 128, kFourTimes},
    {"phi", 51200, 64, kFourTimes},
    {"phi3", 32064, 96, kTwoThirds},
    {"qwen2", 151936, 128, {43, 8, 256}},
    {"qwen3", 151936, 128, {3}},
    {"gemma", 256000, 256, {8}},
    {"gemma2", 256000, 256, {4}},
    {"gemma3_text", 262144, 256, {4}},
    {"smollm3", 128256, 128, {43, 8, 256}},
    {"granite", 32000, 128, kTwoThirds},
    {"olmo2", 50304, 128, kTwoThirds},
    {"glm", 151552, 128, {107, 32, 128}},
    {"glm4", 151552, 128, {107, 32, 128}},
    {"cohere", 256000, 128, {11, 4, 256}},
    {"mixtral", 32000, 128, {7, 2, 256}, true},
    {"qwen2_moe", 151936, 128, {11, 4, 256}},
    {"qwen3_moe", 151936, 64, {3}},
    {"olmoe", 50304, 128, {1}, true},
    {"gpt_oss", 201088, 45, {1}, true, kOssRope},
    {"phimoe", 32064, 128, {25, 16, 64}, true},
    {"deepseek_v2", 102400, 40, {12, 5, 256}},
    {"deepseek_v3", 129280, 56, {18, 7, 256}},
    {"glm4_moe", 151552, 128, {171, 64, 64}},
    {"bert", 30522, 64, kFourTimes},
    {"roberta", 50265, 64, kFourTimes},
    {"distilbert", 30522, 64, kFourTimes},
    {"t5", 32128, 64, kFourTimes},
    {"bart", 50265, 64, kFourTimes},
};

/// An option, the size it gives, and the key that stands for it in the reference's files (BART: one for each stack).
struct SizeOption {
  std::string_view option;
  std::optional<int64_t> ModelSizes::*size;
  std::string_view key;
  std::string_view encoder_key = {}, decoder_key = {};
};
constexpr SizeOption kOptions[] = {
    {"--d-model", &ModelSizes::d_model, "hidden_size"},
    {"--n-layer", &ModelSizes::n_layer, "num_hidden_layers", "encoder_layers", "decoder_layers"},
    {"--n-head", &ModelSizes::n_head, "num_attention_heads", "encoder_attention_heads", "decoder_attention_heads"},
    {"--n-kv-head", &ModelSizes::n_kv_head, "num_key_value_heads"},
    {"--d-head", &ModelSizes::d_head, "head_dim"},
    {"--d-ff", &ModelSizes::d_ff, "intermediate_size", "encoder_ffn_dim", "decoder_ffn_dim"},
    {"--vocab-size", &ModelSizes::vocab_size, "vocab_size"},
    {"--n-ctx", &ModelSizes::n_ctx, "max_position_embeddings"},
    {"--n-expert", &ModelSizes::n_expert, "num_experts"},
    {"--n-expert-used", &ModelSizes::n_expert_used, "num_experts_per_tok"},
    {"--d-ff-expert", &ModelSizes::d_ff_expert, "moe_intermediate_size"},
};
constexpr std::string_view kTiedOption = "--tied", kTiedKey = "tie_word_embeddings";

const SizeRule* find_rule(std::string_view family) {
  for (const Architecture* arch : all_architectures()) {
    if (arch->name == family && !arch->hf_model_types.empty()) family = arch->hf_model_types.front();
  }
  const auto at = std::find_if(std::begin(kRules), std::end(kRules), [&](auto& rule) { return rule.type == family; });
  return at == std::end(kRules) ? nullptr : at;
}

/// What the family's rules say where nothing else does. d_model is there.
ModelSizes with_rules(const SizeRule& rule, ModelSizes sizes) {
  const int64_t d = *sizes.d_model;
  if (!sizes.vocab_size) sizes.vocab_size = rule.vocab_size;
  if (!sizes.n_head) sizes.n_head = std::max<int64_t>(d / sizes.d_head.value_or(rule.d_head), 1);
  if (rule.is_width_of_experts && sizes.d_ff_expert) sizes.d_ff = std::exchange(sizes.d_ff_expert, std::nullopt);
  if (!sizes.d_ff && rule.d_ff.numerator > 0) {
    const int64_t n = (d * rule.d_ff.numerator / rule.d_ff.denominator + rule.d_ff.multiple - 1) / rule.d_ff.multiple;
    sizes.d_ff = n * rule.d_ff.multiple;
  }
  return sizes;
}

Value alternating_layers(int64_t n_layer) {
  Value::Array names;
  for (int64_t i = 0; i < n_layer; ++i) names.emplace_back(std::string(i % 2 == 0 ? "global" : "local"));
  return Value(std::move(names));
}

/// The file that the reference would write for these sizes.
Result<Value> config_json(const SizeRule& rule, const ModelSizes& sizes) {
  Value::Object members = {{"model_type", Value(std::string(rule.type))}};
  const bool has_stack_keys = rule.type == "bart";
  for (const SizeOption& option : kOptions) {
    const std::optional<int64_t>& size = sizes.*option.size;
    if (!size) continue;
    if (has_stack_keys && !option.encoder_key.empty()) {
      members.emplace_back(option.encoder_key, Value(*size));
      members.emplace_back(option.decoder_key, Value(*size));
    } else {
      members.emplace_back(option.key, Value(*size));
    }
  }
  if (sizes.is_tied) members.emplace_back(kTiedKey, Value(*sizes.is_tied));
  if (has_stack_keys || rule.type == "t5") {
    members.emplace_back("architectures", Value(Value::Array{Value(std::string("ForConditionalGeneration"))}));
  }
  if (!rule.alternating_key.empty()) members.emplace_back(rule.alternating_key, alternating_layers(*sizes.n_layer));
  if (rule.more.empty()) return Value(std::move(members));
  VITRO_TRY_ASSIGN(const Value more, parse_json(rule.more, "class defaults"));
  for (const Value::Member& member : *more.as_object()) members.push_back(member);
  return Value(std::move(members));
}

void replace_all(std::string_view from, std::string_view to, std::string* text) {
  for (size_t at = text->find(from); at != std::string::npos; at = text->find(from, at + to.size())) {
    text->replace(at, from.size(), to);
  }
}

/// The message in the words of the options.
Error in_options(Error error, const SizeRule& rule) {
  replace_all("[config.json]", fmt::format("[--arch {}]", rule.type), &error.message);
  const auto replace_key = [&](std::string_view key, std::string_view option) {
    if (key.empty()) return;
    replace_all(fmt::format("'{}'", key), option, &error.message);
    replace_all(fmt::format("\"{}\"", key), option, &error.message);
  };
  for (const SizeOption& option : kOptions) {
    for (const std::string_view key : {option.key, option.encoder_key, option.decoder_key})
      replace_key(key, option.option);
  }
  replace_key(kTiedKey, kTiedOption);
  return error;
}

/// Sizes that rules are computed from, before they are.
Status check_needed(const SizeRule& rule, const ModelSizes& sizes) {
  std::vector<std::string> problems;
  if (!sizes.d_model) problems.emplace_back("--d-model is missing");
  if (!sizes.n_layer) problems.emplace_back("--n-layer is missing");
  if (sizes.d_model && (*sizes.d_model < 1 || *sizes.d_model > kMaxWidth)) {
    problems.push_back(fmt::format("--d-model = {} must be between 1 and {}", *sizes.d_model, kMaxWidth));
  }
  if (sizes.n_layer && (*sizes.n_layer < 1 || *sizes.n_layer > kMaxLayers)) {
    problems.push_back(fmt::format("--n-layer = {} must be between 1 and {}", *sizes.n_layer, kMaxLayers));
  }
  if (sizes.d_head && (*sizes.d_head < 1 || *sizes.d_head > kMaxWidth)) {
    problems.push_back(fmt::format("--d-head = {} must be between 1 and {}", *sizes.d_head, kMaxWidth));
  }
  if (rule.is_width_of_experts && sizes.d_ff && sizes.d_ff_expert && *sizes.d_ff != *sizes.d_ff_expert) {
    problems.emplace_back("--d-ff and --d-ff-expert differ, but all layers have experts");
  }
  if (problems.empty()) return {};
  return fail(ErrorCode::kInvalidArgument, "[--arch {}] {}", rule.type, fmt::join(problems, "; "));
}

Result<ModelDescription> describe(const SizeRule& rule, const ModelSizes& sizes) {
  VITRO_TRY_ASSIGN(const Value config, config_json(rule, sizes));
  ModelDescription description;
  VITRO_TRY_ASSIGN(description.arch, find_architecture(SourceFormat::kHuggingFace, config));
  VITRO_TRY_ASSIGN(description.config, description.arch->read_config(SourceFormat::kHuggingFace, config));
  VITRO_TRY(check_config(description.config));
  return description;
}

}  // namespace

std::string sized_families() {
  std::vector<std::string_view> names;
  for (const SizeRule& rule : kRules) names.push_back(rule.type);
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<ModelDescription> describe_sizes(std::string_view family, const ModelSizes& sizes) {
  const SizeRule* rule = find_rule(family);
  if (!rule) {
    return fail(ErrorCode::kUnsupported, "--arch {}: unknown family; known: {}",
                to_string(Value(std::string(family)), 60), sized_families());
  }
  VITRO_TRY(check_needed(*rule, sizes));
  Result<ModelDescription> description = describe(*rule, with_rules(*rule, sizes));
  if (!description) return tl::unexpected(in_options(description.error(), *rule));
  return description;
}

}  // namespace vitro
