// Runs the rules in order and draws. Which past ids the penalties count, by preset (conventions in presets.cc):
//
//                       repetition                presence, frequency        n-grams
//   hf                  prompt and generated      generated (*)              prompt and generated
//   llama.cpp           last 64 of both           last 64 of both            prompt and generated (*)
//   vllm                prompt and generated      generated                  prompt and generated (*)
//
// (*) the engine has no such rule; it then counts as OpenAI and transformers define it. penalty_last_n replaces the
// window of all.
#include "sample/sampler.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/held_bytes.h"
#include "base/rng.h"
#include "sample/argmax.h"
#include "sample/candidates.h"
#include "sample/rules.h"

namespace vitro {
namespace {

using ApplyRule = void (*)(const RuleContext& context, CandidateSet& set);

ApplyRule rule_function(SampleRule rule) {
  switch (rule) {
    case SampleRule::kLogitBias:
      return apply_logit_bias;
    case SampleRule::kRepetition:
      return apply_repetition;
    case SampleRule::kPresenceFrequency:
      return apply_presence_frequency;
    case SampleRule::kNoRepeatNgram:
      return apply_no_repeat_ngram;
    case SampleRule::kTemperature:
      return apply_temperature;
    case SampleRule::kTopK:
      return apply_top_k;
    case SampleRule::kTypical:
      return apply_typical;
    case SampleRule::kTopP:
      return apply_top_p;
    case SampleRule::kMinP:
      return apply_min_p;
    case SampleRule::kEpsilon:
      return apply_epsilon;
  }
  return nullptr;
}

bool is_greedy(const SamplerConfig& config) { return config.temperature == 0; }

bool looks_at_history(SampleRule rule) {
  return rule == SampleRule::kRepetition || rule == SampleRule::kPresenceFrequency ||
         rule == SampleRule::kNoRepeatNgram;
}

tl::unexpected<Error> nothing_left() {
  return fail(ErrorCode::kInvalidArgument,
              "[sample] no token is left to choose from: every logit is -inf, or forbidden by --logit-bias or "
              "--no-repeat-ngram");
}

Status check_history(const TokenHistory& history, int64_t vocab_size) {
  const int64_t n_ids = static_cast<int64_t>(history.ids.size());
  if (history.n_prompt < 0 || history.n_prompt > n_ids)
    return fail(ErrorCode::kInvalidArgument, "[sample] {} of {} past tokens cannot be the prompt", history.n_prompt,
                n_ids);
  for (const int32_t id : history.ids) {
    if (id < 0 || id >= vocab_size)
      return fail(ErrorCode::kInvalidArgument, "[sample] past token {} is not in the vocabulary of {}", id, vocab_size);
  }
  return {};
}

}  // namespace

std::vector<SampleRule> effective_order(const SamplerConfig& config) {
  const PresetConventions& conventions = preset_conventions(config.preset);
  std::vector<SampleRule> order = config.order;
  if (order.empty()) order.assign(conventions.order.begin(), conventions.order.end());
  std::erase_if(order, [&](SampleRule rule) {
    if (!is_rule_on(rule, config)) return true;
    if (!is_greedy(config) || rule == SampleRule::kLogitBias || looks_at_history(rule)) return false;
    return !(rule == SampleRule::kTypical && conventions.greedy_keeps_typical);
  });
  return order;
}

namespace {

CandidateRoom room_for(const SamplerConfig& config, std::span<const SampleRule> order) {
  const auto has = [&](SampleRule rule) { return std::find(order.begin(), order.end(), rule) != order.end(); };
  CandidateRoom room;
  room.logits = !order.empty() || !is_greedy(config);
  room.list = !is_greedy(config) || has(SampleRule::kTypical);
  room.values = has(SampleRule::kTopK);
  room.counts = has(SampleRule::kRepetition) || has(SampleRule::kPresenceFrequency);
  room.ranked = has(SampleRule::kTopP) || has(SampleRule::kTypical);
  return room;
}

// What the drawn-from distribution takes.
int64_t n_candidates(const SamplerConfig& config, int64_t vocab_size) { return is_greedy(config) ? 0 : vocab_size; }

}  // namespace

int64_t sampler_bytes(const SamplerConfig& config, int64_t vocab_size) {
  return room_for(config, effective_order(config)).n_bytes(vocab_size) +
         n_candidates(config, vocab_size) * static_cast<int64_t>(sizeof(Candidate));
}

int64_t Sampler::n_bytes() const { return set_->n_bytes() + held_bytes(candidates_); }

Sampler::Sampler(SamplerConfig config, int64_t vocab_size)
    : config_(std::move(config)),
      vocab_size_(vocab_size),
      order_(effective_order(config_)),
      set_(std::make_unique<CandidateSet>()) {
  VITRO_DCHECK(validate(config_, vocab_size_).has_value());
  set_->reserve(room_for(config_, order_), vocab_size_);
  candidates_.reserve(static_cast<size_t>(n_candidates(config_, vocab_size_)));
}

Sampler::~Sampler() = default;
Sampler::Sampler(Sampler&&) noexcept = default;
Sampler& Sampler::operator=(Sampler&&) noexcept = default;

Status Sampler::run_rules(std::span<const float> logits, const TokenHistory& history) {
  if (static_cast<int64_t>(logits.size()) != vocab_size_)
    return fail(ErrorCode::kInvalidArgument, "[sample] {} logits for a vocabulary of {}", logits.size(), vocab_size_);
  if (std::any_of(order_.begin(), order_.end(), looks_at_history)) VITRO_TRY(check_history(history, vocab_size_));
  VITRO_TRY(set_->reset(logits));
  const RuleContext context{config_, preset_conventions(config_.preset), history};
  for (const SampleRule rule : order_) rule_function(rule)(context, *set_);
  return {};
}

Result<int32_t> Sampler::best_id(std::span<const float> logits, const TokenHistory& history) {
  const bool needs_rules = !order_.empty() || static_cast<int64_t>(logits.size()) != vocab_size_;
  if (!needs_rules) {
    const RowScan scan = scan_row(logits);
    const bool is_usable = !scan.has_nan && scan.argmax >= 0 && logits[static_cast<size_t>(scan.argmax)] > kForbidden;
    if (is_usable) return static_cast<int32_t>(scan.argmax);
  }
  VITRO_TRY(run_rules(logits, history));  // also the way to say what is wrong
  const int32_t id = set_->best();
  if (id < 0) return nothing_left();
  return id;
}

void Sampler::normalise_into_candidates() {
  const std::span<const Candidate> weighted = set_->weighted();
  const double mass = set_->mass();
  candidates_.clear();
  for (const Candidate& c : weighted) {
    const double probability = c.probability / mass;
    if (probability > 0) candidates_.push_back({c.id, probability});
  }
}

Result<std::span<const Candidate>> Sampler::distribution(std::span<const float> logits, const TokenHistory& history) {
  if (is_greedy(config_)) {
    VITRO_TRY_ASSIGN(const int32_t id, best_id(logits, history));
    candidates_.assign(1, {id, 1.0});
    return candidates_;
  }
  VITRO_TRY(run_rules(logits, history));
  normalise_into_candidates();
  if (candidates_.empty()) return nothing_left();
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.probability != b.probability ? a.probability > b.probability : a.id < b.id;
  });
  return candidates_;
}

int32_t Sampler::draw(double u) const {
  double sum = 0;
  for (const Candidate& c : candidates_) {
    sum += c.probability;
    if (u < sum) return c.id;
  }
  return candidates_.back().id;  // the sum may round to a little less than 1
}

Result<int32_t> Sampler::sample(std::span<const float> logits, const TokenHistory& history, uint64_t sequence,
                                uint64_t position) {
  if (is_greedy(config_)) return best_id(logits, history);
  VITRO_TRY(run_rules(logits, history));
  normalise_into_candidates();
  if (candidates_.empty()) return nothing_left();
  return draw(uniform_at(config_.seed, sequence, position));
}

}  // namespace vitro
