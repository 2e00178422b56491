// What a configuration may say. All that is wrong is told at once.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "sample/rules.h"

namespace vitro {
namespace {

// Steeper or flatter than this no distribution is useful, and float32 logits would overflow or lose their differences.
constexpr double kMinTemperature = 1e-4, kMaxTemperature = 1e4;
constexpr double kMinRepetition = 0.01, kMaxRepetition = 100.0;
constexpr double kMaxAdditivePenalty = 100.0;
// Comparing an n-gram costs up to n at each past token.
constexpr int64_t kMaxNgram = 256;

class Problems {
 public:
  template <class Value>
  void require(bool holds, std::string_view option, std::string_view range, Value value) {
    if (!holds) add(fmt::format("{} must be {}, not {}", option, range, value));
  }
  void add(std::string_view problem) {
    if (!text_.empty()) text_ += "; ";
    text_ += problem;
  }
  Status status() const {
    if (text_.empty()) return {};
    return fail(ErrorCode::kInvalidArgument, "{}", text_);
  }

 private:
  std::string text_;
};

// False for NaN.
bool is_within(double value, double low, double high) { return value >= low && value <= high; }

void check_truncation(const SamplerConfig& c, Problems& problems) {
  problems.require(c.top_k >= 0, "--top-k", "0 (off) or more", c.top_k);
  problems.require(c.top_p > 0 && c.top_p <= 1, "--top-p", "above 0 and at most 1 (off)", c.top_p);
  problems.require(is_within(c.min_p, 0, 1), "--min-p", "from 0 (off) to 1", c.min_p);
  problems.require(c.typical_p > 0 && c.typical_p <= 1, "--typical-p", "above 0 and at most 1 (off)", c.typical_p);
  problems.require(c.epsilon_cutoff >= 0 && c.epsilon_cutoff < 1, "--epsilon-cutoff", "from 0 (off) to below 1",
                   c.epsilon_cutoff);
}

void check_penalties(const SamplerConfig& c, Problems& problems) {
  const auto is_additive = [](double x) { return is_within(x, -kMaxAdditivePenalty, kMaxAdditivePenalty); };
  const std::string additive = fmt::format("from {} to {} (0 is off)", -kMaxAdditivePenalty, kMaxAdditivePenalty);
  problems.require(is_within(c.repetition_penalty, kMinRepetition, kMaxRepetition), "--repetition-penalty",
                   fmt::format("from {} to {} (1 is off)", kMinRepetition, kMaxRepetition), c.repetition_penalty);
  problems.require(is_additive(c.presence_penalty), "--presence-penalty", additive, c.presence_penalty);
  problems.require(is_additive(c.frequency_penalty), "--frequency-penalty", additive, c.frequency_penalty);
  problems.require(c.penalty_last_n >= 0, "--penalty-last-n", "0 (as the preset) or more", c.penalty_last_n);
  problems.require(c.no_repeat_ngram >= 0 && c.no_repeat_ngram <= kMaxNgram, "--no-repeat-ngram",
                   fmt::format("from 0 (off) to {}", kMaxNgram), c.no_repeat_ngram);
}

void check_logit_bias(const SamplerConfig& c, int64_t vocab_size, Problems& problems) {
  for (const auto& [id, bias] : c.logit_bias) {
    problems.require(id >= 0 && id < vocab_size, "--logit-bias", fmt::format("for an id from 0 to {}", vocab_size - 1),
                     id);
    problems.require(std::isfinite(bias) || bias == kForbidden, "--logit-bias", "a number or -inf", bias);
  }
}

void check_order(const SamplerConfig& c, Problems& problems) {
  if (c.order.empty()) return;
  for (size_t i = 0; i < c.order.size(); ++i) {
    if (std::count(c.order.begin(), c.order.begin() + static_cast<std::ptrdiff_t>(i), c.order[i]) == 1)
      problems.add(fmt::format("--sampler-order: rule '{}' stands there twice", sample_rule_name(c.order[i])));
  }
  for (const SampleRule rule : preset_conventions(c.preset).order) {
    if (!is_rule_on(rule, c) || std::count(c.order.begin(), c.order.end(), rule) > 0) continue;
    problems.add(
        fmt::format("{} is set, but --sampler-order leaves out '{}'", rule_option(rule), sample_rule_name(rule)));
  }
}

}  // namespace

bool is_rule_on(SampleRule rule, const SamplerConfig& c) {
  switch (rule) {
    case SampleRule::kLogitBias:
      return !c.logit_bias.empty();
    case SampleRule::kRepetition:
      return c.repetition_penalty != 1;
    case SampleRule::kPresenceFrequency:
      return c.presence_penalty != 0 || c.frequency_penalty != 0;
    case SampleRule::kNoRepeatNgram:
      return c.no_repeat_ngram != 0;
    case SampleRule::kTemperature:
      return c.temperature != 0 && c.temperature != 1;
    case SampleRule::kTopK:
      return c.top_k != 0;
    case SampleRule::kTypical:
      return c.typical_p != 1;
    case SampleRule::kTopP:
      return c.top_p != 1;
    case SampleRule::kMinP:
      return c.min_p != 0;
    case SampleRule::kEpsilon:
      return c.epsilon_cutoff != 0;
  }
  return false;
}

std::string_view rule_option(SampleRule rule) {
  switch (rule) {
    case SampleRule::kLogitBias:
      return "--logit-bias";
    case SampleRule::kRepetition:
      return "--repetition-penalty";
    case SampleRule::kPresenceFrequency:
      return "--presence-penalty or --frequency-penalty";
    case SampleRule::kNoRepeatNgram:
      return "--no-repeat-ngram";
    case SampleRule::kTemperature:
      return "--temperature";
    case SampleRule::kTopK:
      return "--top-k";
    case SampleRule::kTypical:
      return "--typical-p";
    case SampleRule::kTopP:
      return "--top-p";
    case SampleRule::kMinP:
      return "--min-p";
    case SampleRule::kEpsilon:
      return "--epsilon-cutoff";
  }
  return "";
}

Status validate(const SamplerConfig& config, int64_t vocab_size) {
  Problems problems;
  problems.require(config.temperature == 0 || is_within(config.temperature, kMinTemperature, kMaxTemperature),
                   "--temperature", fmt::format("0 (greedy) or from {} to {}", kMinTemperature, kMaxTemperature),
                   config.temperature);
  check_truncation(config, problems);
  check_penalties(config, problems);
  check_logit_bias(config, vocab_size, problems);
  check_order(config, problems);
  return problems.status();
}

}  // namespace vitro
