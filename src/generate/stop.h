// Stop strings on streamed text: what can still become a stop string is held back, what cannot is given out.
//
// Which stop string ends the text: the one that is complete first, character by character; of several complete at the
// same character, the one that began first. So the outcome depends on the text alone, never on how it was cut into
// pieces.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace vitro {

inline constexpr size_t kMaxStopStrings = 16;
inline constexpr size_t kMaxStopBytes = 256;

/// InvalidArgument naming every stop string that is empty, longer than kMaxStopBytes or not UTF-8, and a list longer
/// than kMaxStopStrings.
Status validate_stop_strings(std::span<const std::string> stops);

/// One stream, one object.
class StopMatcher {
 public:
  /// `stops` must be valid (validate_stop_strings). None: all text passes through.
  explicit StopMatcher(std::vector<std::string> stops);

  /// piece  any number of bytes that continue the stream
  /// Returns the text that is certain now: no part of a stop string is in it, nor after it. Once stopped, always empty.
  /// Cost: O(piece * stops).
  std::string push(std::string_view piece);

  /// The stream has ended: what was held back. Empty if stopped.
  std::string finish();

  bool is_stopped() const { return stopped_by_.has_value(); }
  /// The stop string that ended the text.
  std::optional<std::string_view> stopped_by() const;

 private:
  // Knuth-Morris-Pratt: how much of one stop string the end of the text matches.
  struct Pattern {
    std::string text;
    std::vector<uint16_t>
        border;  // border[i]: longest proper prefix of text[0, i] (i included) that is its suffix, too
    size_t n_matched = 0;
  };
  static Pattern make_pattern(std::string text);
  static bool advance(Pattern& pattern, char byte);
  bool advance_all(char byte);
  size_t n_undecided() const;

  std::vector<Pattern> patterns_;
  std::string held_;  // the end of the text so far that a stop string may begin with
  std::optional<size_t> stopped_by_;
};

}  // namespace vitro
