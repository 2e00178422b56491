// The loop that closes the circle: logits -> token -> text, appended, asked again.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "generate/logits_source.h"
#include "sample/sampler.h"
#include "tokens/tokenizer.h"

namespace vitro {

/// Why generation ended. X-macro: name, printed name, meaning.
#define VITRO_STOP_REASONS(X)                                        \
  X(kEndToken, "end-token", "the model gave a token that ends text") \
  X(kStopString, "stop-string", "a stop string appeared")            \
  X(kLength, "length", "--max-tokens were generated")                \
  X(kContext, "context", "the context is full")                      \
  X(kCallback, "cancelled", "the caller asked to stop")

enum class StopReason : uint8_t {
#define VITRO_X(name, text, doc) name,
  VITRO_STOP_REASONS(VITRO_X)
#undef VITRO_X
};
std::string_view stop_reason_name(StopReason reason);

struct GenerateOptions {
  int64_t max_tokens = 128;
  SamplerConfig sampler;
  std::vector<std::string> stop_strings;
  std::vector<int32_t> end_ids;   ///< tokens that end the text; they are reported but add no text
  int n_top = 0;                  ///< alternatives reported at each step
  bool has_probabilities = true;  ///< report the probability of each token: a softmax over the vocabulary at each step
};

/// An alternative at one step: the model's own probability (softmax of the raw logits, before any sampling rule).
struct Alternative {
  int32_t id = 0;
  double probability = 0;
};

/// One step of the loop.
struct GeneratedToken {
  int32_t id = 0;
  double probability = 0;  ///< of the raw logits
  /// Text that became certain with this token: valid UTF-8, may be empty. With id -1: what was held back until the end.
  std::string text;
  std::span<const Alternative> top;
};

/// Sees each token; false ends the loop.
using TokenCallback = std::function<bool(const GeneratedToken&)>;

struct Generated {
  std::vector<int32_t> ids;
  std::string text;
  StopReason reason = StopReason::kLength;
  double prompt_seconds = 0;    ///< until the logits after the prompt were there
  double generate_seconds = 0;  ///< from then to the end: sampling, passes, and what the callback does
  int64_t n_passes = 0;         ///< passes in that time: one a token but the first
  int64_t buffer_bytes = 0;     ///< what the loop held: sampler, ids, ranks of alternatives
};

/// Bytes of the loop's buffers for a prompt of n_prompt tokens where n_room more fit behind it; texts are not counted.
int64_t generation_bytes(const GenerateOptions& options, int64_t vocab_size, int64_t n_prompt, int64_t n_room);

/// Feeds the prompt, then samples until something ends it. `tokenizer` may be null (then there is no text and no stop
/// strings). InvalidArgument: an empty prompt, a prompt that leaves no room, bad sampler options, NaN logits.
Result<Generated> generate(LogitsSource& source, const Tokenizer* tokenizer, std::span<const int32_t> prompt,
                           const GenerateOptions& options, const TokenCallback& on_token);

/// The n most likely ids of a row of logits, with softmax probabilities; ties by lower id.
std::vector<Alternative> top_alternatives(std::span<const float> logits, int n);

}  // namespace vitro
