// Where the generation loop gets its logits: a session with its cache, the same session recomputing everything, or a
// script in a test.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "generate/session.h"

namespace vitro {

class LogitsSource {
 public:
  virtual ~LogitsSource() = default;
  /// Appends ids; logits after the last one, valid until the next call.
  virtual Result<std::span<const float>> feed(std::span<const int32_t> ids) = 0;
  /// Tokens that still fit into the context.
  virtual int64_t room() const = 0;
};

/// Keeps keys and values: every token is computed once.
class CachedLogits : public LogitsSource {
 public:
  /// Starts `sequence` of the session anew for a prompt of prompt_len tokens. The session must outlive the source.
  CachedLogits(Session& session, SequenceId sequence, int64_t prompt_len);
  Result<std::span<const float>> feed(std::span<const int32_t> ids) override;
  int64_t room() const override;

 private:
  Session& session_;
  SequenceId sequence_;
};

/// Computes the whole text anew at each step, as if there were no cache: what the cache saves, and a check that it
/// changes nothing.
class UncachedLogits : public LogitsSource {
 public:
  UncachedLogits(Session& session, SequenceId sequence);
  Result<std::span<const float>> feed(std::span<const int32_t> ids) override;
  int64_t room() const override;

 private:
  Session& session_;
  SequenceId sequence_;
  std::vector<int32_t> ids_;
  int64_t prompt_len_ = 0;  ///< of the first feed: fixes length-dependent rotary kinds, as with the cache
};

}  // namespace vitro
