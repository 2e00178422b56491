// What commands share about the terminal: errors, progress lines, bars, colours.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace vitro {

/// Prints "vitro COMMAND: message" to stderr and returns 1.
int report_error(std::string_view command, const Error& error);

/// Levenshtein distance, for "did you mean".
size_t edit_distance(std::string_view a, std::string_view b);

/// A bar of `width` character cells, filled by eighths: fraction 0..1.
std::string bar(double fraction, int width);

bool is_terminal(int file_descriptor);

/// A progress line on stderr, drawn only on a terminal and only once the work has lasted half a second; erased at the
/// end.
class Progress {
 public:
  explicit Progress(std::string label);
  ~Progress();
  void update(int64_t n_done, int64_t n_total);

 private:
  std::string label_;
  int64_t start_ms_;
  int64_t drawn_ms_ = 0;
  bool is_shown_ = false;
};

/// From now on ctrl-C sets a flag instead of ending the process, so that a command can stop in good order.
void catch_interrupt();
bool is_interrupted();

/// Milliseconds of a clock that only goes forward.
int64_t now_ms();
/// Seconds of the same clock.
double now_seconds();

/// Largest resident memory of this process so far, in bytes.
int64_t peak_rss_bytes();

}  // namespace vitro
