// Lines from a person or a pipe. On a terminal: editing, history, pasted text as one piece (libedit); else plain lines.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace vitro {

struct TypedLine {
  enum class Kind { kLine, kInterrupted, kFailed, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;  ///< without the line's end; pasted text may have line breaks in it. kFailed: what is wrong
};

class LineReader {
 public:
  virtual ~LineReader() = default;
  /// kInterrupted: ctrl-C, what was typed is dropped. kFailed: a line that is
  /// too long, behind which the next call goes on, or input that cannot be read, after which comes kEnd. kEnd: ctrl-D,
  /// or the input's end.
  virtual TypedLine read(std::string_view prompt) = 0;
  /// Text that the arrow keys bring back, now and in later sessions.
  virtual void remember(std::string_view text) = 0;
  virtual bool is_interactive() const = 0;
};

/// Edits lines where standard input and error are terminals. `history`: a file, made when needed; empty: none is kept.
std::unique_ptr<LineReader> open_line_reader(const std::filesystem::path& history);

/// $XDG_STATE_HOME/vitro/NAME, by default ~/.local/state/vitro/NAME; empty where there is no home.
std::filesystem::path state_path(std::string_view name);

}  // namespace vitro
