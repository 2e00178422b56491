// A conversation is one sequence that grows turn by turn. ResumedLogits gives the loop the whole text each time and
// computes only what the sequence does not hold.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"
#include "generate/logits_source.h"
#include "generate/session.h"

namespace vitro {

/// A sequence of tokens with its cache: a session's, or a script in a test.
class Sequence {
 public:
  virtual ~Sequence() = default;
  /// Tokens that it holds.
  virtual std::span<const int32_t> ids() const = 0;
  virtual int64_t n_ctx() const = 0;
  /// Forgets everything; a prompt of prompt_len tokens comes next.
  virtual void begin(int64_t prompt_len) = 0;
  /// Forgets tokens from `length` on.
  virtual void truncate(int64_t length) = 0;
  /// Appends ids; logits after the last one, valid until the next call.
  virtual Result<std::span<const float>> feed(std::span<const int32_t> ids) = 0;
};

/// One sequence of a session, which must outlive it.
class SessionSequence : public Sequence {
 public:
  SessionSequence(Session& session, SequenceId sequence) : session_(session), sequence_(sequence) {}
  std::span<const int32_t> ids() const override { return session_.ids(sequence_); }
  int64_t n_ctx() const override { return session_.plan().shape.n_ctx; }
  void begin(int64_t prompt_len) override { session_.begin(sequence_, {.prompt_len = prompt_len}); }
  void truncate(int64_t length) override { session_.truncate(sequence_, length); }
  Result<std::span<const float>> feed(std::span<const int32_t> ids) override { return session_.feed(sequence_, ids); }

 private:
  Session& session_;
  SequenceId sequence_;
};

/// Sees how much of the prompt is computed, from nothing to all of it; false stops.
using PromptProgress = std::function<bool(int64_t n_done, int64_t n_total)>;

/// The first feed is the whole prompt: what the sequence holds of it stays, what it holds beyond is forgotten, and the
/// rest is computed in chunks. At least the last token is computed, for its logits.
class ResumedLogits : public LogitsSource {
 public:
  static constexpr int64_t kChunk = 256;

  explicit ResumedLogits(Sequence& sequence, PromptProgress on_progress = {})
      : sequence_(sequence), on_progress_(std::move(on_progress)) {}
  /// Cancelled: on_progress said so; the chunks until then stay in the sequence.
  Result<std::span<const float>> feed(std::span<const int32_t> ids) override;
  int64_t room() const override;

  /// Tokens of the prompt that were held already.
  int64_t n_reused() const { return n_reused_; }
  /// Tokens computed so far: the rest of the prompt, then those of the reply.
  int64_t n_computed() const { return n_computed_; }

 private:
  Result<std::span<const float>> feed_prompt(std::span<const int32_t> ids);
  Status check_progress(int64_t n_total) const;

  Sequence& sequence_;
  PromptProgress on_progress_;
  bool is_begun_ = false;
  int64_t n_reused_ = 0;
  int64_t n_computed_ = 0;
};

/// Tokens that both begin with.
int64_t n_common(std::span<const int32_t> a, std::span<const int32_t> b);

}  // namespace vitro
