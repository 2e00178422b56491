// What each preset copies, and the names. Read in the engines' sources:
//
// hf: transformers 5, generation/utils.py (order of the processors), generation/logits_process.py (edges): top-k masks
// what is below the k-th logit; top-p sorts ascending and masks while the running sum is at most 1 - p.
//
// llama.cpp: common/sampling.cpp (the bias goes in front of the chain), common/common.h (default chain, window of 64
// tokens, which the prompt's enter too), src/llama-sampler.cpp (edges): sorted downwards and cut.
//
// vllm: v1/sample/sampler.py (bias, penalties, temperature, min-p, then top-k and top-p),
// model_executor/layers/utils.py (repetition counts prompt and output, presence and frequency the output),
// v1/sample/ops/topk_topp_sampler.py (edges).
#include <algorithm>
#include <charconv>
#include <cmath>

#include "sample/rules.h"

namespace vitro {
namespace {

using enum SampleRule;

constexpr PresetConventions kHfConventions = {
    .order = {kLogitBias, kRepetition, kPresenceFrequency, kNoRepeatNgram, kTemperature, kTopK, kTopP, kMinP, kTypical,
              kEpsilon},
    .top_k_keeps_ties = true,
    .top_p_prefers_higher_id = true,
    .typical_keeps_ties = true,
    .greedy_keeps_typical = false,
    .repetition_counts = CountedIds::kAll,
    .presence_counts = CountedIds::kGenerated,
    .penalty_last_n = 0,
};

constexpr PresetConventions kLlamaCppConventions = {
    .order = {kLogitBias, kRepetition, kPresenceFrequency, kNoRepeatNgram, kTopK, kTypical, kTopP, kMinP, kEpsilon,
              kTemperature},
    .top_k_keeps_ties = false,
    .top_p_prefers_higher_id = false,
    .typical_keeps_ties = false,
    .greedy_keeps_typical = true,
    .repetition_counts = CountedIds::kAll,
    .presence_counts = CountedIds::kAll,
    .penalty_last_n = 64,
};

constexpr PresetConventions kVllmConventions = {
    .order = {kLogitBias, kRepetition, kPresenceFrequency, kNoRepeatNgram, kTemperature, kMinP, kTopK, kTopP, kTypical,
              kEpsilon},
    .top_k_keeps_ties = true,
    .top_p_prefers_higher_id = true,
    .typical_keeps_ties = true,
    .greedy_keeps_typical = false,
    .repetition_counts = CountedIds::kAll,
    .presence_counts = CountedIds::kGenerated,
    .penalty_last_n = 0,
};

struct NamedRule {
  SampleRule rule;
  std::string_view name;
};
constexpr NamedRule kRuleNames[] = {
#define VITRO_X(name, text, doc) {SampleRule::name, text},
    VITRO_SAMPLE_RULES(VITRO_X)
#undef VITRO_X
};

struct NamedPreset {
  SamplerPreset preset;
  std::string_view name;
};
constexpr NamedPreset kPresetNames[] = {
#define VITRO_X(name, text, doc) {SamplerPreset::name, text},
    VITRO_SAMPLER_PRESETS(VITRO_X)
#undef VITRO_X
};

template <class Named, size_t n>
std::string list_names(const Named (&table)[n]) {
  std::string out;
  for (const Named& entry : table) out += (out.empty() ? "" : ", ") + std::string(entry.name);
  return out;
}

Result<SampleRule> parse_rule(std::string_view name) {
  for (const NamedRule& entry : kRuleNames) {
    if (entry.name == name) return entry.rule;
  }
  return fail(ErrorCode::kInvalidArgument, "--sampler-order: unknown rule '{}'; known are {}", name,
              list_names(kRuleNames));
}

// The whole of `text` as a number; from_chars knows inf, but no leading '+'.
template <class Number>
bool parse_whole(std::string_view text, Number& out) {
  const std::from_chars_result parsed = std::from_chars(text.data(), text.data() + text.size(), out);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

}  // namespace

const PresetConventions& preset_conventions(SamplerPreset preset) {
  switch (preset) {
    case SamplerPreset::kLlamaCpp:
      return kLlamaCppConventions;
    case SamplerPreset::kVllm:
      return kVllmConventions;
    case SamplerPreset::kHf:
      break;
  }
  return kHfConventions;
}

std::string_view sample_rule_name(SampleRule rule) { return kRuleNames[static_cast<size_t>(rule)].name; }
std::string_view sampler_preset_name(SamplerPreset preset) { return kPresetNames[static_cast<size_t>(preset)].name; }

Result<SamplerPreset> parse_sampler_preset(std::string_view text) {
  for (const NamedPreset& entry : kPresetNames) {
    if (entry.name == text) return entry.preset;
  }
  return fail(ErrorCode::kInvalidArgument, "--sampler-preset: unknown preset '{}'; known are {}", text,
              list_names(kPresetNames));
}

Result<std::vector<SampleRule>> parse_sampler_order(std::string_view text) {
  std::vector<SampleRule> order;
  for (std::string_view rest = text;;) {
    const size_t comma = rest.find(',');
    VITRO_TRY_ASSIGN(const SampleRule rule, parse_rule(rest.substr(0, comma)));
    if (std::find(order.begin(), order.end(), rule) != order.end())
      return fail(ErrorCode::kInvalidArgument, "--sampler-order: rule '{}' stands there twice", sample_rule_name(rule));
    order.push_back(rule);
    if (comma == std::string_view::npos) return order;
    rest.remove_prefix(comma + 1);
  }
}

Result<std::pair<int32_t, float>> parse_logit_bias(std::string_view text) {
  const size_t equals = text.find('=');
  std::string_view value = equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1);
  if (value.size() > 1 && value[0] == '+' && value[1] != '-') value.remove_prefix(1);
  std::pair<int32_t, float> out;
  const bool is_valid = parse_whole(text.substr(0, equals), out.first) && parse_whole(value, out.second) &&
                        out.first >= 0 && (std::isfinite(out.second) || out.second == kForbidden);
  if (is_valid) return out;
  return fail(ErrorCode::kInvalidArgument,
              "--logit-bias: '{}' is not ID=VALUE with a token id and a number or -inf, e.g. 42=-1.5", text);
}

}  // namespace vitro
