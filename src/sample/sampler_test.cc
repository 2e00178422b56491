// The sampler against the references: transformers rule by rule, whole chains of three engines
// (tools/make_sampling_expectations.py), and its own promises: draws follow the distribution, truncation
// without a full sort equals the definition, bad input is an error.
#include "sample/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/rng.h"
#include "testing/shared_data.h"

namespace vitro {
namespace {

using nlohmann::json;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
const TokenHistory kNoHistory;

json load_expectations(const char* name) {
  std::ifstream in(testing::repo_path("tests/data/sample") / name);
  return json::parse(in, nullptr, false);
}

std::vector<float> floats_from(const json& values) {
  std::vector<float> out;
  for (const json& v : values) out.push_back(v.is_null() ? -kInf : v.get<float>());
  return out;
}

SamplerConfig sampling_config(double temperature = 1.0) {
  SamplerConfig config;
  config.temperature = temperature;
  return config;
}

// Probabilities by id.
std::vector<double> dense_distribution(Sampler& sampler, const std::vector<float>& logits,
                                       const TokenHistory& history) {
  std::vector<double> out(logits.size(), 0.0);
  const auto distribution = sampler.distribution(logits, history);
  EXPECT_TRUE(distribution.has_value()) << distribution.error().message;
  if (!distribution) return out;
  for (const Candidate& c : *distribution) out[static_cast<size_t>(c.id)] = c.probability;
  return out;
}

std::vector<float> random_logits(size_t n, uint64_t seed, double spread) {
  std::vector<float> out(n);
  for (size_t i = 0; i < n; ++i) {
    // Sum of three uniforms: bell-shaped enough.
    const double x = uniform_at(seed, 0, i) + uniform_at(seed, 1, i) + uniform_at(seed, 2, i) - 1.5;
    out[i] = static_cast<float>(spread * x);
  }
  return out;
}

// ---- against transformers

SamplerConfig config_of_golden(const json& row) {
  SamplerConfig config = sampling_config();
  const std::string rule = row["rule"];
  const json& args = row["args"];
  if (rule == "temperature") config.temperature = args["temperature"];
  if (rule == "top_k") config.top_k = args["top_k"];
  if (rule == "top_p") config.top_p = args["top_p"];
  if (rule == "min_p") config.min_p = args["min_p"];
  if (rule == "typical_p") config.typical_p = args["typical_p"];
  if (rule == "epsilon_cutoff") config.epsilon_cutoff = args["epsilon"];
  if (rule == "repetition_penalty") config.repetition_penalty = args["penalty"];
  if (rule == "no_repeat_ngram") config.no_repeat_ngram = args["n"];
  return config;
}

// The reference works in float32: log p carries an error of eps * |logit| (the argument of exp) and a few roundings of
// its own.
double golden_tolerance(const std::vector<float>& logits, double temperature, double probability) {
  double spread = 0;
  for (const float x : logits) {
    if (std::isfinite(x)) spread = std::max(spread, std::fabs(static_cast<double>(x)));
  }
  const double eps = std::numeric_limits<float>::epsilon();
  return probability * eps * (8 + 2 * std::min(spread / temperature, 100.0)) + 1e-38;
}

TEST(Sampler, EachRuleMatchesTransformers) {
  const json goldens = load_expectations("transformers.json");
  ASSERT_GE(goldens["rows"].size(), 100u);
  for (const json& row : goldens["rows"]) {
    SCOPED_TRACE(row["rule"].get<std::string>() + row["args"].dump() + row["set"].get<std::string>());
    const SamplerConfig config = config_of_golden(row);
    const std::vector<float> logits = floats_from(goldens["sets"][row["set"].get<std::string>()]);
    const std::vector<int32_t> history = row["history"];
    std::vector<double> expected(logits.size(), 0.0);
    for (const json& entry : row["probs"]) expected[entry[0].get<size_t>()] = entry[1];
    ASSERT_TRUE(validate(config, static_cast<int64_t>(logits.size())).has_value());
    Sampler sampler(config, static_cast<int64_t>(logits.size()));
    ASSERT_EQ(effective_order(config).size(), config.temperature == 1.0 && row["rule"] == "temperature" ? 0u : 1u);
    const std::vector<double> actual = dense_distribution(sampler, logits, {history, 0});
    for (size_t i = 0; i < logits.size(); ++i) {
      EXPECT_NEAR(actual[i], expected[i], golden_tolerance(logits, config.temperature, expected[i])) << "id " << i;
    }
  }
}

// ---- whole chains

SamplerConfig config_of_case(const json& row) {
  SamplerConfig c;
  const json& o = row["options"];
  c.preset = parse_sampler_preset(row["preset"].get<std::string>()).value();
  c.temperature = o["temperature"];
  c.top_k = o.value("top_k", c.top_k);
  c.top_p = o.value("top_p", c.top_p);
  c.min_p = o.value("min_p", c.min_p);
  c.typical_p = o.value("typical_p", c.typical_p);
  c.epsilon_cutoff = o.value("epsilon_cutoff", c.epsilon_cutoff);
  c.repetition_penalty = o.value("repetition_penalty", c.repetition_penalty);
  c.presence_penalty = o.value("presence_penalty", c.presence_penalty);
  c.frequency_penalty = o.value("frequency_penalty", c.frequency_penalty);
  c.penalty_last_n = o.value("penalty_last_n", c.penalty_last_n);
  c.no_repeat_ngram = o.value("no_repeat_ngram", c.no_repeat_ngram);
  for (const json& bias : o.value("logit_bias", json::array())) {
    c.logit_bias.emplace_back(bias[0].get<int32_t>(), bias[1].is_null() ? -kInf : bias[1].get<float>());
  }
  return c;
}

TEST(Sampler, ChainsMatchTheirEngines) {
  const json cases = load_expectations("chains.json");
  ASSERT_GE(cases.size(), 30u);
  for (const json& row : cases) {
    SCOPED_TRACE(row["preset"].get<std::string>() + ": " + row["name"].get<std::string>());
    const SamplerConfig config = config_of_case(row);
    const std::vector<float> logits = floats_from(row["logits"]);
    const std::vector<int32_t> history = row["history"];
    ASSERT_TRUE(validate(config, static_cast<int64_t>(logits.size())).has_value());
    Sampler sampler(config, static_cast<int64_t>(logits.size()));
    const std::vector<double> actual = dense_distribution(sampler, logits, {history, row["n_prompt"].get<int64_t>()});
    for (size_t i = 0; i < logits.size(); ++i) {
      // Logits are float32 through at most six operations, each wrong by at most eps * 32 (largest logit here) in log
      // p.
      const double expected = row["probs"][i];
      EXPECT_NEAR(actual[i], expected, expected * 6 * 32 * std::numeric_limits<float>::epsilon()) << "id " << i;
    }
  }
}

TEST(Sampler, OrderMatters) {
  const json cases = load_expectations("chains.json");
  const auto probabilities = [&](const char* preset) {
    for (const json& row : cases) {
      if (row["preset"] == preset && row["name"] == "truncate") return row["probs"].get<std::vector<double>>();
    }
    return std::vector<double>();
  };
  EXPECT_NE(probabilities("hf"), probabilities("llama.cpp"));
  EXPECT_NE(probabilities("vllm"), probabilities("llama.cpp"));

  // The same rules in the order of the other engine give the other engine's distribution.
  for (const json& row : cases) {
    if (row["name"] != "truncate" || row["preset"] != "llama.cpp") continue;
    SamplerConfig config = config_of_case(row);
    config.preset = SamplerPreset::kHf;
    config.order = parse_sampler_order("top-k,typical,top-p,min-p,temperature").value();
    const std::vector<float> logits = floats_from(row["logits"]);
    Sampler sampler(config, static_cast<int64_t>(logits.size()));
    const std::vector<double> actual = dense_distribution(sampler, logits, kNoHistory);
    for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], row["probs"][i].get<double>(), 1e-5);
  }
}

TEST(Sampler, EffectiveOrderLeavesOutWhatIsOff) {
  SamplerConfig config = sampling_config(0.7);
  config.top_k = 40;
  config.min_p = 0.1;
  using enum SampleRule;
  EXPECT_EQ(effective_order(config), (std::vector<SampleRule>{kTemperature, kTopK, kMinP}));
  config.preset = SamplerPreset::kLlamaCpp;
  EXPECT_EQ(effective_order(config), (std::vector<SampleRule>{kTopK, kMinP, kTemperature}));
  config.preset = SamplerPreset::kVllm;
  EXPECT_EQ(effective_order(config), (std::vector<SampleRule>{kTemperature, kMinP, kTopK}));
  config.temperature = 0;
  config.repetition_penalty = 1.1;
  EXPECT_EQ(effective_order(config), (std::vector<SampleRule>{kRepetition}));
}

// ---- greedy

TEST(Sampler, GreedyIsTheLowestIndexOfTheLargest) {
  const std::vector<float> logits = {-1.0F, 3.0F, 2.0F, 3.0F, -kInf};
  Sampler sampler(SamplerConfig{}, 5);
  EXPECT_EQ(sampler.sample(logits, kNoHistory, 0, 0).value(), 1);
  const auto distribution = sampler.distribution(logits, kNoHistory);
  ASSERT_EQ(distribution->size(), 1u);
  EXPECT_EQ((*distribution)[0].id, 1);
  EXPECT_EQ((*distribution)[0].probability, 1.0);
}

TEST(Sampler, GreedyObeysPenaltiesAndIgnoresTruncation) {
  const std::vector<float> logits = {2.0F, 1.9F, -1.0F};
  const std::vector<int32_t> history = {0};
  SamplerConfig config;
  config.repetition_penalty = 1.2;
  config.top_p = 0.1;
  config.typical_p = 0.1;
  Sampler sampler(config, 3);
  EXPECT_EQ(sampler.sample(logits, {history, 1}, 0, 0).value(), 1);
}

TEST(Sampler, TopOneIsTheArgmax) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<float> logits = random_logits(1000, seed, 9.0);
    for (const SamplerPreset preset : {SamplerPreset::kHf, SamplerPreset::kLlamaCpp, SamplerPreset::kVllm}) {
      SamplerConfig config = sampling_config(1.5);
      config.top_k = 1;
      config.preset = preset;
      Sampler sampler(config, 1000);
      EXPECT_EQ(sampler.sample(logits, kNoHistory, seed, 7).value(),
                std::max_element(logits.begin(), logits.end()) - logits.begin());
    }
  }
}

TEST(Argmax, EveryLengthAndPlace) {
  for (size_t n : {1u, 2u, 15u, 16u, 17u, 33u, 1023u, 1024u, 1025u, 2500u}) {
    std::vector<float> row(n, -2.0F);
    for (size_t at : {size_t{0}, n / 2, n - 1}) {
      row[at] = 1.5F;
      row[n - 1] = 1.5F;
      EXPECT_EQ(argmax(row), static_cast<int64_t>(std::min(at, n - 1))) << n << " " << at;
      row[at] = row[n - 1] = -2.0F;
    }
  }
}

TEST(Argmax, SpecialValues) {
  EXPECT_EQ(argmax({}), -1);
  EXPECT_EQ(argmax(std::vector<float>{kNaN, kNaN}), -1);
  EXPECT_EQ(argmax(std::vector<float>{kNaN, -kInf, -5.0F}), 2);
  EXPECT_EQ(argmax(std::vector<float>{kNaN, -kInf, -kInf}), 1);
  EXPECT_EQ(argmax(std::vector<float>{-0.0F, 0.0F}), 0);
  EXPECT_EQ(argmax(std::vector<float>{1.0F, kInf, kInf}), 1);
  std::vector<float> long_row(5000, -kInf);
  long_row[0] = kNaN;
  EXPECT_EQ(argmax(long_row), 1);
}

// ---- special logits

TEST(Sampler, PlusInfinityTakesAll) {
  const std::vector<float> logits = {5.0F, kInf, -kInf, kInf};
  for (const char* order :
       {"", "temperature,top-k,top-p,min-p,typical,epsilon", "typical,epsilon,min-p,top-p,top-k,temperature"}) {
    SamplerConfig config = sampling_config(0.5);
    if (*order) {
      config.order = parse_sampler_order(order).value();
      config.top_k = 3;
      config.top_p = config.typical_p = 0.99;
      config.min_p = config.epsilon_cutoff = 0.1;
    }
    Sampler sampler(config, 4);
    EXPECT_EQ(dense_distribution(sampler, logits, kNoHistory), (std::vector<double>{0, 0.5, 0, 0.5})) << order;
  }
}

TEST(Sampler, BadLogitsAreErrors) {
  std::vector<float> with_nan(100, 0.0F);
  with_nan[70] = kNaN;
  const std::vector<float> nothing(100, -kInf);
  for (const double temperature : {0.0, 1.0}) {
    Sampler sampler(sampling_config(temperature), 100);
    for (const std::vector<float>& logits : {with_nan, nothing, std::vector<float>(99, 1.0F), std::vector<float>()}) {
      const auto sampled = sampler.sample(logits, kNoHistory, 0, 0);
      ASSERT_FALSE(sampled.has_value());
      EXPECT_EQ(sampled.error().code, ErrorCode::kInvalidArgument);
      EXPECT_FALSE(sampler.distribution(logits, kNoHistory).has_value());
    }
    EXPECT_NE(sampler.sample(with_nan, kNoHistory, 0, 0).error().message.find("id 70"), std::string::npos);
    EXPECT_TRUE(sampler.sample(std::vector<float>(100, 1.0F), kNoHistory, 0, 0).has_value());
  }
}

TEST(Sampler, ForbiddingEverythingIsAnError) {
  SamplerConfig config = sampling_config();
  config.no_repeat_ngram = 1;
  config.top_k = 2;
  config.top_p = config.typical_p = 0.5;
  config.min_p = config.epsilon_cutoff = 0.1;
  const std::vector<int32_t> history = {0, 1, 2};
  for (const double temperature : {0.0, 0.5}) {
    config.temperature = temperature;
    Sampler sampler(config, 3);
    EXPECT_FALSE(sampler.sample(std::vector<float>{1, 2, 3}, {history, 3}, 0, 0).has_value());
  }
  // The same when a list of candidates exists already.
  config.order = parse_sampler_order("top-k,top-p,typical,min-p,no-repeat-ngram,epsilon,temperature").value();
  Sampler late(config, 3);
  EXPECT_FALSE(late.sample(std::vector<float>{1, 2, 3}, {history, 3}, 0, 0).has_value());
}

TEST(Sampler, BadHistoryIsAnError) {
  SamplerConfig config = sampling_config();
  config.frequency_penalty = 0.5;
  Sampler sampler(config, 3);
  const std::vector<float> logits = {1, 2, 3};
  const std::vector<int32_t> outside = {0, 3}, negative = {-1}, fine = {0};
  EXPECT_FALSE(sampler.sample(logits, {outside, 0}, 0, 0).has_value());
  EXPECT_FALSE(sampler.sample(logits, {negative, 0}, 0, 0).has_value());
  EXPECT_FALSE(sampler.sample(logits, {fine, 2}, 0, 0).has_value());
  EXPECT_FALSE(sampler.sample(logits, {fine, -1}, 0, 0).has_value());
  EXPECT_TRUE(sampler.sample(logits, {fine, 1}, 0, 0).has_value());
}

TEST(Sampler, ForbiddenIdStaysForbiddenEvenAtPlusInfinity) {
  SamplerConfig config = sampling_config();
  config.logit_bias = {{1, -kInf}, {1, 3.0F}};
  Sampler sampler(config, 3);
  EXPECT_EQ(dense_distribution(sampler, {2.0F, kInf, 2.0F}, kNoHistory), (std::vector<double>{0.5, 0, 0.5}));
}

// ---- draws

// Chi-square of 10,000 draws against the printed distribution, ids with fewer than five expected draws put together.
void expect_draws_follow(Sampler& sampler, const std::vector<float>& logits) {
  constexpr int kDraws = 10000;
  const std::vector<double> expected = dense_distribution(sampler, logits, kNoHistory);
  std::vector<int> n_drawn(logits.size(), 0);
  for (uint64_t i = 0; i < kDraws; ++i)
    ++n_drawn[static_cast<size_t>(sampler.sample(logits, kNoHistory, 3, i).value())];
  double chi2 = 0, rest_expected = 0;
  int n_cells = 0, rest_drawn = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double n_expected = kDraws * expected[i];
    if (n_expected < 5) {
      EXPECT_TRUE(expected[i] > 0 || n_drawn[i] == 0) << "a dropped id was drawn: " << i;
      rest_expected += n_expected;
      rest_drawn += n_drawn[i];
      continue;
    }
    chi2 += (n_drawn[i] - n_expected) * (n_drawn[i] - n_expected) / n_expected;
    ++n_cells;
  }
  if (rest_expected > 1) {
    chi2 += (rest_drawn - rest_expected) * (rest_drawn - rest_expected) / rest_expected;
    ++n_cells;
  }
  // Mean df, variance 2 df: four standard deviations above.
  const double df = std::max(1, n_cells - 1);
  EXPECT_LT(chi2, df + 4 * std::sqrt(2 * df));
}

TEST(Sampler, TenThousandDrawsFollowTheDistribution) {
  const std::vector<float> logits = random_logits(300, 11, 6.0);
  SamplerConfig config = sampling_config(0.8);
  config.seed = 42;
  Sampler plain(config, 300);
  expect_draws_follow(plain, logits);
  config.top_k = 30;
  config.top_p = 0.9;
  Sampler truncated(config, 300);
  expect_draws_follow(truncated, logits);
}

TEST(Sampler, DrawWalksTheDistributionByAscendingId) {
  for (const double spread : {0.01, 3.0, 30.0}) {
    const std::vector<float> logits = random_logits(3000, 5, spread);
    SamplerConfig config = sampling_config(0.9);
    config.seed = 1234;
    Sampler sampler(config, 3000);
    const auto distribution = sampler.distribution(logits, kNoHistory);
    std::vector<Candidate> candidates(distribution->begin(), distribution->end());
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) { return a.id < b.id; });
    for (uint64_t position = 0; position < 300; ++position) {
      const double u = uniform_at(1234, 9, position);
      double sum = 0;
      size_t i = 0;
      while (i + 1 < candidates.size() && u >= (sum += candidates[i].probability)) ++i;
      EXPECT_EQ(sampler.sample(logits, kNoHistory, 9, position).value(), candidates[i].id);
    }
  }
}

TEST(Sampler, SameNumbersSameToken) {
  const std::vector<float> logits = random_logits(500, 2, 1.0);
  SamplerConfig config = sampling_config(1.0);
  config.seed = 7;
  Sampler first(config, 500), second(config, 500);
  config.seed = 8;
  Sampler other_seed(config, 500);
  int n_other_seed = 0, n_other_sequence = 0, n_other_position = 0;
  for (uint64_t position = 0; position < 50; ++position) {
    const int32_t id = first.sample(logits, kNoHistory, 0, position).value();
    EXPECT_EQ(id, second.sample(logits, kNoHistory, 0, position).value());
    n_other_seed += id != other_seed.sample(logits, kNoHistory, 0, position).value();
    n_other_sequence += id != first.sample(logits, kNoHistory, 1, position).value();
    n_other_position += id != first.sample(logits, kNoHistory, 0, position + 1000).value();
  }
  EXPECT_GT(std::min({n_other_seed, n_other_sequence, n_other_position}), 40);
}

TEST(Sampler, DistributionIsSortedAndSumsToOne) {
  std::vector<float> logits = random_logits(5000, 3, 4.0);
  for (size_t i = 0; i < logits.size(); i += 3) logits[i] = logits[0];  // many ties
  Sampler sampler(sampling_config(1.0), 5000);
  const auto distribution = sampler.distribution(logits, kNoHistory);
  double sum = 0;
  for (size_t i = 0; i < distribution->size(); ++i) {
    const Candidate& c = (*distribution)[i];
    EXPECT_GT(c.probability, 0);
    sum += c.probability;
    if (i == 0) continue;
    const Candidate& before = (*distribution)[i - 1];
    EXPECT_TRUE(before.probability > c.probability || (before.probability == c.probability && before.id < c.id)) << i;
  }
  EXPECT_NEAR(sum, 1.0, 5000 * std::numeric_limits<double>::epsilon());
}

// Truncation by partial sorts, against the definition by a full sort.
TEST(Sampler, TruncationOfALargeVocabularyMatchesTheDefinition) {
  constexpr size_t kVocab = 50000;
  const std::vector<float> logits = random_logits(kVocab, 21, 8.0);
  std::vector<size_t> order(kVocab);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  double mass = 0;
  for (const float x : logits) mass += std::exp(static_cast<double>(x));
  for (const int64_t k : {1, 7, 511, 512, 20000, 49999, 50000, 60000}) {
    SamplerConfig config = sampling_config();
    config.top_k = k;
    config.preset = SamplerPreset::kLlamaCpp;
    Sampler sampler(config, kVocab);
    const auto distribution = sampler.distribution(logits, kNoHistory);
    EXPECT_EQ(static_cast<int64_t>(distribution->size()), std::min<int64_t>(k, kVocab));
    EXPECT_EQ(distribution->back().id, static_cast<int32_t>(order[distribution->size() - 1]));
  }
  for (const double p : {0.001, 0.5, 0.95, 0.9999}) {
    SamplerConfig config = sampling_config();
    config.top_p = p;
    Sampler sampler(config, kVocab);
    size_t n_kept = 0;
    for (double in_front = 0; in_front < p; ++n_kept)
      in_front += std::exp(static_cast<double>(logits[order[n_kept]])) / mass;
    EXPECT_EQ(sampler.distribution(logits, kNoHistory)->size(), n_kept);
  }
}

}  // namespace
}  // namespace vitro
