#include "generate/generate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/clock.h"
#include "base/held_bytes.h"
#include "generate/stop.h"
#include "tokens/stream_decoder.h"

namespace vitro {
namespace {

constexpr auto kReasonNames = std::to_array<std::string_view>({
#define VITRO_X(name, text, doc) text,
    VITRO_STOP_REASONS(VITRO_X)
#undef VITRO_X
});

// Softmax of one row, for the probabilities that are reported. Sums in double.
struct RowSoftmax {
  double max = 0, sum = 0;
  explicit RowSoftmax(std::span<const float> logits) {
    max = *std::max_element(logits.begin(), logits.end());
    for (const float x : logits) sum += std::exp(static_cast<double>(x) - max);
  }
  double probability(float logit) const { return std::exp(static_cast<double>(logit) - max) / sum; }
};

// `ids` is scratch.
std::vector<Alternative> top_of(std::span<const float> logits, int n, const RowSoftmax& softmax,
                                std::vector<int32_t>& ids) {
  if (n <= 0) return {};
  ids.resize(logits.size());
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(i);
  const auto n_top = std::min(static_cast<size_t>(std::max(n, 0)), ids.size());
  std::partial_sort(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(n_top), ids.end(), [&](int32_t a, int32_t b) {
    const float x = logits[static_cast<size_t>(a)], y = logits[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  });
  std::vector<Alternative> top;
  for (size_t i = 0; i < n_top; ++i) top.push_back({ids[i], softmax.probability(logits[static_cast<size_t>(ids[i])])});
  return top;
}

// Turns ids into text that is certain: whole characters, no beginning of a stop string.
class TextStream {
 public:
  TextStream(const Tokenizer* tokenizer, const std::vector<std::string>& stops) : stop_(stops) {
    if (tokenizer) decoder_.emplace(*tokenizer, /*skip_special=*/true, /*is_first=*/false);
  }
  std::string push(int32_t id) { return decoder_ ? stop_.push(decoder_->push(id)) : std::string(); }
  std::string finish() { return decoder_ ? stop_.push(decoder_->finish()) + stop_.finish() : std::string(); }
  bool is_stopped() const { return stop_.is_stopped(); }

 private:
  std::optional<StreamDecoder> decoder_;
  StopMatcher stop_;
};

Status check_request(const LogitsSource& source, std::span<const int32_t> prompt, const GenerateOptions& options) {
  VITRO_TRY(validate_stop_strings(options.stop_strings));
  if (prompt.empty()) return fail(ErrorCode::kInvalidArgument, "the prompt has no tokens; give a text or --ids");
  if (static_cast<int64_t>(prompt.size()) > source.room()) {
    return fail(ErrorCode::kInvalidArgument,
                "the prompt has {} tokens, the context holds {}; shorten it or ask for more with --context",
                prompt.size(), source.room());
  }
  return {};
}

// Tokens that can be generated: one more than there is room for, because the last one is not fed.
int64_t n_most(const GenerateOptions& options, int64_t n_room) { return std::min(options.max_tokens, n_room + 1); }

// One run of the loop.
class Loop {
 public:
  Loop(LogitsSource& source, const Tokenizer* tokenizer, const GenerateOptions& options, int64_t vocab_size)
      : source_(source),
        options_(options),
        sampler_(options.sampler, vocab_size),
        text_(tokenizer, options.stop_strings) {}

  Status run(std::span<const float> logits, std::span<const int32_t> prompt, const TokenCallback& on_token) {
    const auto n_new = static_cast<size_t>(n_most(options_, source_.room()));
    history_.reserve(prompt.size() + n_new);
    out_.ids.reserve(n_new);
    if (options_.n_top > 0) top_ids_.reserve(logits.size());
    history_.assign(prompt.begin(), prompt.end());
    n_prompt_ = static_cast<int64_t>(prompt.size());
    while (true) {
      if (static_cast<int64_t>(out_.ids.size()) >= options_.max_tokens) return end(StopReason::kLength, on_token);
      VITRO_TRY_ASSIGN(const bool goes_on, step(logits, on_token));
      if (!goes_on) return {};
      if (source_.room() < 1) return end(StopReason::kContext, on_token);
      if (static_cast<int64_t>(out_.ids.size()) >= options_.max_tokens) continue;
      VITRO_TRY_ASSIGN(logits, source_.feed(std::span(&history_.back(), 1)));
      ++out_.n_passes;
    }
  }

  Generated take() {
    out_.buffer_bytes = sampler_.n_bytes() + held_bytes(history_) + held_bytes(out_.ids) + held_bytes(top_ids_);
    return std::move(out_);
  }

 private:
  // Samples, reports; false when the text has ended.
  Result<bool> step(std::span<const float> logits, const TokenCallback& on_token) {
    const TokenHistory history{history_, n_prompt_};
    VITRO_TRY_ASSIGN(const int32_t id, sampler_.sample(logits, history, 0, history_.size()));
    history_.push_back(id);
    out_.ids.push_back(id);
    const bool is_end = std::find(options_.end_ids.begin(), options_.end_ids.end(), id) != options_.end_ids.end();
    GeneratedToken token{.id = id, .text = is_end ? text_.finish() : text_.push(id)};
    std::vector<Alternative> top;
    if (options_.has_probabilities || options_.n_top > 0) {
      const RowSoftmax softmax(logits);
      token.probability = softmax.probability(logits[static_cast<size_t>(id)]);
      top = top_of(logits, options_.n_top, softmax, top_ids_);
      token.top = top;
    }
    out_.text += token.text;
    const bool wants_more = !on_token || on_token(token);
    if (is_end) return stop(StopReason::kEndToken);
    if (text_.is_stopped()) return stop(StopReason::kStopString);
    return wants_more ? Result<bool>(true) : stop(StopReason::kCallback);
  }

  Result<bool> stop(StopReason reason) {
    out_.reason = reason;
    return false;
  }

  // Ends between tokens: what was held back is text after all.
  Status end(StopReason reason, const TokenCallback& on_token) {
    out_.reason = reason;
    const std::string rest = text_.finish();
    if (!rest.empty() && on_token) on_token({-1, 0, rest, {}});
    out_.text += rest;
    return {};
  }

  LogitsSource& source_;
  const GenerateOptions& options_;
  Sampler sampler_;
  TextStream text_;
  std::vector<int32_t> history_;
  std::vector<int32_t> top_ids_;
  int64_t n_prompt_ = 0;
  Generated out_;
};

}  // namespace

std::string_view stop_reason_name(StopReason reason) { return kReasonNames[static_cast<size_t>(reason)]; }

std::vector<Alternative> top_alternatives(std::span<const float> logits, int n) {
  std::vector<int32_t> ids;
  return top_of(logits, n, RowSoftmax(logits), ids);
}

int64_t generation_bytes(const GenerateOptions& options, int64_t vocab_size, int64_t n_prompt, int64_t n_room) {
  const int64_t n_new = n_most(options, n_room);
  const int64_t n_ids = n_prompt + 2 * n_new + (options.n_top > 0 ? vocab_size : 0);
  return sampler_bytes(options.sampler, vocab_size) + n_ids * static_cast<int64_t>(sizeof(int32_t));
}

Result<Generated> generate(LogitsSource& source, const Tokenizer* tokenizer, std::span<const int32_t> prompt,
                           const GenerateOptions& options, const TokenCallback& on_token) {
  VITRO_TRY(check_request(source, prompt, options));
  const double start = now_seconds();
  VITRO_TRY_ASSIGN(const std::span<const float> logits, source.feed(prompt));
  const double prompt_seconds = now_seconds() - start;
  VITRO_TRY(validate(options.sampler, static_cast<int64_t>(logits.size())));
  Loop loop(source, tokenizer, options, static_cast<int64_t>(logits.size()));
  VITRO_TRY(loop.run(logits, prompt, on_token));
  Generated out = loop.take();
  out.generate_seconds = now_seconds() - start - prompt_seconds;
  out.prompt_seconds = prompt_seconds;
  return out;
}

}  // namespace vitro
