// The rules as functions, one for each SampleRule, and what differs between presets besides the order.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sample/candidates.h"
#include "sample/sampler.h"

namespace vitro {

/// Which past ids a rule counts.
enum class CountedIds : uint8_t { kAll, kGenerated };

/// A preset as data (presets.cc says where each entry was read).
struct PresetConventions {
  std::array<SampleRule, 10> order;  ///< every rule once; those the engine lacks stand where transformers has them
  bool top_k_keeps_ties;             ///< ids as good as the k-th stay, too
  bool
      top_p_prefers_higher_id;  ///< among tied ids at the edge, the higher stays (transformers sorts ascending, stably)
  bool typical_keeps_ties;  ///< ids exactly as typical as the last kept one stay, and reaching p is enough (else above
                            ///< p)
  bool greedy_keeps_typical;  ///< typical runs in front of the choice at temperature 0
  CountedIds repetition_counts;
  CountedIds presence_counts;
  int64_t penalty_last_n;  ///< 0: no window
};
const PresetConventions& preset_conventions(SamplerPreset preset);

/// Everything a rule may look at besides the candidates.
struct RuleContext {
  const SamplerConfig& config;
  const PresetConventions& conventions;
  const TokenHistory& history;
};

/// Whether the configuration switches a rule on; temperature 0 is greedy and no rule.
bool is_rule_on(SampleRule rule, const SamplerConfig& config);
/// The option of the command line that switches a rule on.
std::string_view rule_option(SampleRule rule);

void apply_logit_bias(const RuleContext& context, CandidateSet& set);
void apply_repetition(const RuleContext& context, CandidateSet& set);
void apply_presence_frequency(const RuleContext& context, CandidateSet& set);
void apply_no_repeat_ngram(const RuleContext& context, CandidateSet& set);
void apply_temperature(const RuleContext& context, CandidateSet& set);
void apply_top_k(const RuleContext& context, CandidateSet& set);
void apply_typical(const RuleContext& context, CandidateSet& set);
void apply_top_p(const RuleContext& context, CandidateSet& set);
void apply_min_p(const RuleContext& context, CandidateSet& set);
void apply_epsilon(const RuleContext& context, CandidateSet& set);

}  // namespace vitro
