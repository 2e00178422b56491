// Conversations as files: {"messages": [{"role": ..., "content": ...}, ...]}, and the lines that a user types.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/value.h"

namespace vitro {

/// Replaces the file whole or not at all; what is written is on the disk. IoError.
Status save_conversation(const std::filesystem::path& path, const Value::Array& messages);
/// The value of "messages". NotFound, IoError; Corrupt: no such JSON, or over 64 MiB.
Result<Value> load_conversation(const std::filesystem::path& path);

/// What a user has typed: a message, or a command.
struct ChatInput {
  bool is_command = false;
  std::string message;
  std::string command;   ///< without its slash
  std::string argument;  ///< of the command, without blanks at its ends
};

/// Puts lines together. A message is one line; a line that ends in a backslash goes on in the next one; from """ to """
/// all lines are one message. A line that begins with a slash is a command ("//" begins a message with a slash).
class ChatInputReader {
 public:
  /// `line`: without its end; it may hold line breaks (pasted), and is then no command. Nothing: more is needed, or the
  /// line was blank.
  std::optional<ChatInput> push(std::string_view line);
  /// No more lines come: what was begun. InvalidArgument inside of """: half a message is none.
  Result<std::optional<ChatInput>> finish();
  /// A message was begun and goes on.
  bool is_open() const { return is_quoted_ || is_continued_; }
  /// Forgets what was begun.
  void clear() { *this = {}; }

 private:
  std::optional<ChatInput> push_quoted(std::string_view line);

  std::string text_;
  bool is_quoted_ = false;
  bool is_continued_ = false;
};

}  // namespace vitro
