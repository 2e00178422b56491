// What a sampler configuration may say, and its texts on the command line.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sample/sampler.h"

namespace vitro {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(SamplerConfig, DefaultIsValidAndGreedy) {
  EXPECT_TRUE(validate(SamplerConfig{}, 10).has_value());
  EXPECT_TRUE(effective_order(SamplerConfig{}).empty());
}

TEST(SamplerConfig, NaNIsRefusedEverywhereAndAllIsToldAtOnce) {
  SamplerConfig config;
  config.temperature = config.top_p = config.min_p = config.typical_p = config.epsilon_cutoff = kNaN;
  config.repetition_penalty = config.presence_penalty = config.frequency_penalty = kNaN;
  config.top_k = config.no_repeat_ngram = config.penalty_last_n = -1;
  config.logit_bias = {{3, static_cast<float>(kNaN)}};
  const Status status = validate(config, 10);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  for (const char* option :
       {"--temperature", "--top-k", "--top-p", "--min-p", "--typical-p", "--epsilon-cutoff", "--repetition-penalty",
        "--presence-penalty", "--frequency-penalty", "--penalty-last-n", "--no-repeat-ngram", "--logit-bias"}) {
    EXPECT_NE(status.error().message.find(option), std::string::npos) << option << " in " << status.error().message;
  }
}

struct RangeCase {
  const char* option;
  void (*set)(SamplerConfig&, double);
  std::vector<double> valid, invalid;
};

TEST(SamplerConfig, Ranges) {
  const double inf = std::numeric_limits<double>::infinity();
  const RangeCase cases[] = {
      {"--temperature",
       [](SamplerConfig& c, double x) { c.temperature = x; },
       {0, 0.001, 1, 2.5, 100},
       {-1, 1e-9, 1e9, inf}},
      {"--top-p", [](SamplerConfig& c, double x) { c.top_p = x; }, {1e-9, 0.5, 1}, {0, -0.1, 1.1, inf}},
      {"--min-p", [](SamplerConfig& c, double x) { c.min_p = x; }, {0, 0.5, 1}, {-0.1, 1.1}},
      {"--typical-p", [](SamplerConfig& c, double x) { c.typical_p = x; }, {0.2, 1}, {0, 1.5}},
      {"--epsilon-cutoff", [](SamplerConfig& c, double x) { c.epsilon_cutoff = x; }, {0, 3e-4}, {-1e-4, 1}},
      {"--repetition-penalty", [](SamplerConfig& c, double x) { c.repetition_penalty = x; }, {0.5, 1, 2}, {0, -1, inf}},
      {"--presence-penalty", [](SamplerConfig& c, double x) { c.presence_penalty = x; }, {-2, 0, 2}, {1e30, -inf}},
      {"--frequency-penalty", [](SamplerConfig& c, double x) { c.frequency_penalty = x; }, {-2, 0, 2}, {1e30, -inf}},
      {"--no-repeat-ngram",
       [](SamplerConfig& c, double x) { c.no_repeat_ngram = static_cast<int64_t>(x); },
       {0, 3},
       {-1, 1000}},
      {"--top-k", [](SamplerConfig& c, double x) { c.top_k = static_cast<int64_t>(x); }, {0, 1, 1e15}, {-1}},
  };
  for (const RangeCase& entry : cases) {
    SamplerConfig config;
    for (const double x : entry.valid) {
      entry.set(config, x);
      EXPECT_TRUE(validate(config, 10).has_value()) << entry.option << " " << x;
    }
    for (const double x : entry.invalid) {
      entry.set(config, x);
      const Status status = validate(config, 10);
      ASSERT_FALSE(status.has_value()) << entry.option << " " << x;
      EXPECT_NE(status.error().message.find(entry.option), std::string::npos);
      EXPECT_EQ(status.error().message.find(';'), std::string::npos) << "only one is wrong: " << status.error().message;
    }
  }
}

TEST(SamplerConfig, BiasForAnIdOutsideTheVocabulary) {
  SamplerConfig config;
  config.logit_bias = {{9, 1.0F}};
  EXPECT_TRUE(validate(config, 10).has_value());
  EXPECT_FALSE(validate(config, 9).has_value());
}

TEST(SamplerConfig, AnOptionTheOrderLeavesOutIsAnError) {
  SamplerConfig config;
  config.temperature = 0.7;
  config.top_k = 40;
  config.order = {SampleRule::kTemperature};
  const Status status = validate(config, 100);
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().message.find("--top-k"), std::string::npos);
  config.order.push_back(SampleRule::kTopK);
  EXPECT_TRUE(validate(config, 100).has_value());
  config.order.push_back(SampleRule::kTopK);
  EXPECT_FALSE(validate(config, 100).has_value());
}

TEST(SamplerConfig, PresetNames) {
  EXPECT_EQ(parse_sampler_preset("hf").value(), SamplerPreset::kHf);
  EXPECT_EQ(parse_sampler_preset("llama.cpp").value(), SamplerPreset::kLlamaCpp);
  EXPECT_EQ(parse_sampler_preset("vllm").value(), SamplerPreset::kVllm);
  EXPECT_EQ(sampler_preset_name(SamplerPreset::kLlamaCpp), "llama.cpp");
  for (const char* text : {"", "HF", "llama"}) {
    const auto parsed = parse_sampler_preset(text);
    ASSERT_FALSE(parsed.has_value());
    EXPECT_NE(parsed.error().message.find("hf, llama.cpp, vllm"), std::string::npos);
  }
}

TEST(SamplerConfig, OrderText) {
  using enum SampleRule;
  EXPECT_EQ(parse_sampler_order("top-k").value(), (std::vector<SampleRule>{kTopK}));
  EXPECT_EQ(parse_sampler_order("min-p,temperature,logit-bias").value(),
            (std::vector<SampleRule>{kMinP, kTemperature, kLogitBias}));
  for (const char* text : {"", ",", "top-k,", ",top-k", "top_k", "top-k, top-p", "top-k,top-k"}) {
    const auto parsed = parse_sampler_order(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_NE(parsed.error().message.find("top-k"), std::string::npos);
  }
  EXPECT_NE(parse_sampler_order("x").error().message.find("no-repeat-ngram, temperature"), std::string::npos);
}

TEST(SamplerConfig, EveryRuleNameIsRead) {
#define VITRO_X(name, text, doc)                                     \
  EXPECT_EQ(parse_sampler_order(text).value()[0], SampleRule::name); \
  EXPECT_EQ(sample_rule_name(SampleRule::name), text);
  VITRO_SAMPLE_RULES(VITRO_X)
#undef VITRO_X
}

TEST(SamplerConfig, LogitBiasText) {
  EXPECT_EQ(parse_logit_bias("42=-1.5").value(), (std::pair<int32_t, float>{42, -1.5F}));
  EXPECT_EQ(parse_logit_bias("0=+3").value(), (std::pair<int32_t, float>{0, 3.0F}));
  EXPECT_EQ(parse_logit_bias("7=1e2").value(), (std::pair<int32_t, float>{7, 100.0F}));
  EXPECT_EQ(parse_logit_bias("7=-inf").value().second, -std::numeric_limits<float>::infinity());
  for (const char* text : {"", "=", "42", "42=", "=1", "-1=2", "4x=1", "4=1x", "4=nan", "4=inf", "4= 1", "4=+-1",
                           "99999999999=1", "4=1e99"}) {
    EXPECT_FALSE(parse_logit_bias(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace vitro
