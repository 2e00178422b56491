// How a conversation looks: streamed replies, the line of statistics, prompts with their special tokens set apart.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/terminal.h"
#include "generate/chat_session.h"

namespace vitro {

/// Faint on a terminal.
std::string dimmed(const std::string& text);

/// A prompt; on a terminal its special tokens are coloured.
std::string shown_prompt(const ChatPrompt& prompt, const Tokenizer& tokenizer, bool is_terminal);

/// Speed, what was new and what was kept, the room that is left.
std::string reply_statistics(const ChatReply& reply, const ChatSession& chat);
/// All turns: speed, tokens computed and kept, the room that is left.
std::string chat_statistics(const ChatSession& chat);
/// Why a reply ended, where it is not the model that ended it; else empty.
std::string_view stop_note(StopReason reason);
/// The object of --json.
Value reply_json(const ChatReply& reply, const ChatSession& chat);

/// Writes a reply to stdout as it comes; ctrl-C (catch_interrupt) stops it.
class ReplyStream {
 public:
  /// is_silent: writes nothing, only watches for ctrl-C.
  explicit ReplyStream(bool is_silent);
  bool show_progress(int64_t n_done, int64_t n_total);
  bool show(const GeneratedToken& token);
  /// What comes next starts a line. A reply that is_whole is a line at least, if only an empty one.
  void end(bool is_whole);

 private:
  bool is_silent_;
  bool is_terminal_;
  char last_ = '\0';  ///< of what was written
  std::optional<Progress> progress_;
};

}  // namespace vitro
