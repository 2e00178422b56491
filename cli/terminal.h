// What commands share about the terminal: results on stdout, talk on stderr, progress lines, bars.
// A closed pipe or a full disk throws nothing: results stop after the first failed write, and finish_output says so.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "formats/value.h"

namespace vitro {

/// Writes a result to stdout. False once a write has failed; nothing more is written then.
bool put_text(std::string_view text);
/// The same, formatted.
template <class... Args>
bool put(fmt::format_string<Args...> format, Args&&... args) {
  return put_text(fmt::format(format, std::forward<Args>(args)...));
}
/// One line of JSON.
bool put_json(const Value& value);
/// Gives what was put to the reader now. False once a write has failed.
bool flush_output();
/// The program's last step: flushes. exit_code, or 1 after a failed write, with one line on stderr unless the reader
/// just went away.
int finish_output(int exit_code);

/// Writes formatted talk to stderr; what cannot be written is lost.
void vtalk(fmt::string_view format, fmt::format_args args) noexcept;
template <class... Args>
void talk(fmt::format_string<Args...> format, Args&&... args) noexcept {
  vtalk(format, fmt::make_format_args(args...));
}

/// Prints "vitro COMMAND: message" to stderr and returns 1.
int report_error(std::string_view command, const Error& error);

/// A bar of `width` character cells, filled by eighths: fraction 0..1.
std::string bar(double fraction, int width);

bool is_terminal(int file_descriptor);
/// Text that a terminal shows and does not obey: control characters but line breaks and tabs become their pictures.
/// Elsewhere the text as it is.
std::string for_terminal(std::string_view text, bool is_terminal);

/// A progress line on stderr, drawn only on a terminal and only once the work has lasted half a second; erased at the
/// end. Of bytes, it also shows how many there are and how many come a second.
class Progress {
 public:
  enum class Unit : uint8_t { kParts, kBytes };

  explicit Progress(std::string label, Unit unit = Unit::kParts);
  ~Progress() { erase(); }
  void update(int64_t n_done, int64_t n_total);
  /// Takes the line away, for something else to be said; the next update draws it again.
  void erase();

 private:
  std::string label_;
  Unit unit_;
  int64_t start_ms_;
  int64_t n_at_start_ = -1;  ///< done before the first update, so no part of the speed
  int64_t drawn_ms_ = 0;
  bool is_shown_ = false;
};

/// From now on ctrl-C sets a flag instead of ending the process, so that a command can stop in good order.
void catch_interrupt();
bool is_interrupted();
/// Forgets a ctrl-C that was caught.
void forget_interrupt();
/// Ctrl-C ends the process again.
void release_interrupt();

/// Milliseconds of a clock that only goes forward.
int64_t now_ms();
/// Seconds of the same clock.
double now_seconds();

/// Largest resident memory of this process so far, in bytes.
int64_t peak_rss_bytes();

}  // namespace vitro
