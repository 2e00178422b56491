// Logits -> next token. Rules run in an explicit order that is data; presets copy the order of other engines (they
// differ, so equal parameters give different distributions). Rules on the vocabulary work on a list of candidates; a
// dropped candidate has probability 0.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace vitro {

/// X-macro: enum name, printed name, what the rule does. The printed names are those of --sampler-order.
#define VITRO_SAMPLE_RULES(X)                                                                     \
  X(kLogitBias, "logit-bias", "adds a constant to the logits of given ids")                       \
  X(kRepetition, "repetition", "divides positive, multiplies negative logits of ids seen before") \
  X(kPresenceFrequency, "presence-frequency", "subtracts presence + frequency * count")           \
  X(kNoRepeatNgram, "no-repeat-ngram", "forbids ids that would repeat an n-gram")                 \
  X(kTemperature, "temperature", "divides the logits")                                            \
  X(kTopK, "top-k", "keeps the k largest")                                                        \
  X(kTypical, "typical", "keeps ids of typical surprise up to a mass (Meister et al. 2022)")      \
  X(kTopP, "top-p", "keeps the smallest set of mass p (Holtzman et al. 2020)")                    \
  X(kMinP, "min-p", "drops ids below p times the largest probability (Nguyen et al. 2024)")       \
  X(kEpsilon, "epsilon", "drops ids below an absolute probability (Hewitt et al. 2022)")

enum class SampleRule : uint8_t {
#define VITRO_X(name, text, doc) name,
  VITRO_SAMPLE_RULES(VITRO_X)
#undef VITRO_X
};
std::string_view sample_rule_name(SampleRule rule);

/// Whose order, edge conventions and counting of past tokens are followed (presets.cc has the tables and their
/// sources). X-macro: enum name, printed name (of --sampler-preset), order in short.
#define VITRO_SAMPLER_PRESETS(X)                                                                                       \
  X(kHf, "hf", "transformers: bias, penalties, n-grams, temperature, top-k, top-p, min-p, typical, epsilon")           \
  X(kLlamaCpp, "llama.cpp", "bias, penalties over the last 64 tokens, top-k, typical, top-p, min-p, temperature last") \
  X(kVllm, "vllm", "bias, penalties, temperature, min-p, top-k, top-p")

enum class SamplerPreset : uint8_t {
#define VITRO_X(name, text, doc) name,
  VITRO_SAMPLER_PRESETS(VITRO_X)
#undef VITRO_X
};
std::string_view sampler_preset_name(SamplerPreset preset);

/// The preset of that name, or InvalidArgument listing the names.
Result<SamplerPreset> parse_sampler_preset(std::string_view text);
/// Rules from their names with commas between, e.g. "top-k,top-p,temperature"; InvalidArgument for an unknown, repeated
/// or empty name.
Result<std::vector<SampleRule>> parse_sampler_order(std::string_view text);
/// "ID=VALUE" with a number or -inf as value, e.g. "42=-1.5".
Result<std::pair<int32_t, float>> parse_logit_bias(std::string_view text);

struct SamplerConfig {
  double temperature = 0.0;         ///< 0: greedy, the lowest index on ties
  int64_t top_k = 0;                ///< 0: off
  double top_p = 1.0;               ///< 1: off
  double min_p = 0.0;               ///< 0: off
  double typical_p = 1.0;           ///< 1: off
  double epsilon_cutoff = 0.0;      ///< 0: off
  double repetition_penalty = 1.0;  ///< 1: off
  double presence_penalty = 0.0;    ///< 0: off
  double frequency_penalty = 0.0;   ///< 0: off
  int64_t penalty_last_n = 0;   ///< the penalties count the last n tokens; 0: as the preset (llama.cpp 64, else all)
  int64_t no_repeat_ngram = 0;  ///< 0: off
  std::vector<std::pair<int32_t, float>> logit_bias;  ///< id, added constant; -inf forbids
  SamplerPreset preset = SamplerPreset::kHf;
  std::vector<SampleRule> order;  ///< empty: the preset's
  uint64_t seed = 0;
};

/// InvalidArgument naming each wrong option, its range and the value (all at once): temperature >= 0 and so
/// on. An option that is set although the explicit order leaves its rule out is an error too.
Status validate(const SamplerConfig& config, int64_t vocab_size);

/// The rules that will run, in order, switched-off ones left out. At temperature 0 the rules that cannot change which
/// id is the best are left out too (all that truncate; under llama.cpp typical still runs, because it may drop the best
/// id and runs first there).
std::vector<SampleRule> effective_order(const SamplerConfig& config);

/// Bytes of the buffers that a sampler with these rules makes: up to 76 for each id of the vocabulary, none for greedy
/// choice without penalties.
int64_t sampler_bytes(const SamplerConfig& config, int64_t vocab_size);

/// The ids so far: prompt, then generated. Penalties and n-grams look at them; which part, depends on the rule and the
/// preset.
struct TokenHistory {
  std::span<const int32_t> ids;
  int64_t n_prompt = 0;  ///< how many of `ids` are the prompt
};

/// A token that may be drawn.
struct Candidate {
  int32_t id = 0;
  double probability = 0;
};

/// The vocabulary while the rules run (candidates.h).
class CandidateSet;

/// Applies the rules for one position. All buffers are made at once: sampling does not allocate. One thread at a time.
/// NaN among the logits, or nothing left (all -inf or forbidden), is InvalidArgument. +inf takes all the probability,
/// in equal shares where several ids have it; a logit that overflows float32 on the way counts as infinite.
class Sampler {
 public:
  /// `config` must be valid for this vocabulary.
  Sampler(SamplerConfig config, int64_t vocab_size);
  ~Sampler();
  Sampler(Sampler&&) noexcept;
  Sampler& operator=(Sampler&&) noexcept;

  /// The distribution the next token is drawn from: probabilities > 0 that sum to 1, sorted by descending probability,
  /// then id. Temperature 0: the one best id, with probability 1. Valid until the next call.
  ///   logits [vocab_size], read
  Result<std::span<const Candidate>> distribution(std::span<const float> logits, const TokenHistory& history);

  /// Draws from distribution() with u = uniform_at(seed, sequence, position): by ascending id (not by rank, which would
  /// need a sort), the first whose running sum of probabilities exceeds u. The same three numbers give the same token.
  Result<int32_t> sample(std::span<const float> logits, const TokenHistory& history, uint64_t sequence,
                         uint64_t position);

  const SamplerConfig& config() const { return config_; }
  /// Bytes that the buffers hold.
  int64_t n_bytes() const;

 private:
  Status run_rules(std::span<const float> logits, const TokenHistory& history);
  Result<int32_t> best_id(std::span<const float> logits, const TokenHistory& history);
  void normalise_into_candidates();
  int32_t draw(double u) const;

  // Constant after construction.
  SamplerConfig config_;
  int64_t vocab_size_;
  std::vector<SampleRule> order_;

  // Scratch of one call.
  std::unique_ptr<CandidateSet> set_;
  std::vector<Candidate> candidates_;
};

/// Index of the largest value, the lowest index on ties; NaN never wins; -1 for an empty or all-NaN row. One pass.
int64_t argmax(std::span<const float> logits);

}  // namespace vitro
