// Knuth-Morris-Pratt for each stop string at once, one byte at a time: the state is how much of each the end of the
// text matches.
#include "generate/stop.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/utf8.h"

namespace vitro {

Status validate_stop_strings(std::span<const std::string> stops) {
  std::string problems;
  const auto add = [&problems](std::string_view text) {
    fmt::format_to(std::back_inserter(problems), "{}{}", problems.empty() ? "" : "; ", text);
  };
  if (stops.size() > kMaxStopStrings)
    add(fmt::format("{} stop strings, at most {} are possible", stops.size(), kMaxStopStrings));
  for (size_t i = 0; i < std::min(stops.size(), kMaxStopStrings); ++i) {
    if (stops[i].empty()) add(fmt::format("stop string {} is empty", i + 1));
    if (stops[i].size() > kMaxStopBytes)
      add(fmt::format("stop string {} has {} bytes, at most {} are possible", i + 1, stops[i].size(), kMaxStopBytes));
    // Generated text is always UTF-8: other bytes would never match, or cut a character in two.
    if (!is_valid_utf8(stops[i])) add(fmt::format("stop string {} is not UTF-8", i + 1));
  }
  if (problems.empty()) return {};
  return fail(ErrorCode::kInvalidArgument, "--stop: {}", problems);
}

StopMatcher::StopMatcher(std::vector<std::string> stops) {
  for (std::string& stop : stops) patterns_.push_back(make_pattern(std::move(stop)));
}

StopMatcher::Pattern StopMatcher::make_pattern(std::string text) {
  Pattern pattern{std::move(text), {0}, 0};
  for (size_t i = 1; i < pattern.text.size(); ++i) {
    size_t length = pattern.border[i - 1];
    while (length > 0 && pattern.text[i] != pattern.text[length]) length = pattern.border[length - 1];
    if (pattern.text[i] == pattern.text[length]) ++length;
    pattern.border.push_back(static_cast<uint16_t>(length));
  }
  return pattern;
}

// True once the whole stop string is matched.
bool StopMatcher::advance(Pattern& pattern, char byte) {
  while (pattern.n_matched > 0 && pattern.text[pattern.n_matched] != byte) {
    pattern.n_matched = pattern.border[pattern.n_matched - 1];
  }
  if (pattern.text[pattern.n_matched] == byte) ++pattern.n_matched;
  return pattern.n_matched == pattern.text.size();
}

bool StopMatcher::advance_all(char byte) {
  for (size_t i = 0; i < patterns_.size(); ++i) {
    if (!advance(patterns_[i], byte)) continue;
    // All end here, so the longest began first.
    if (!stopped_by_ || patterns_[i].text.size() > patterns_[*stopped_by_].text.size()) stopped_by_ = i;
  }
  return stopped_by_.has_value();
}

size_t StopMatcher::n_undecided() const {
  size_t longest = 0;
  for (const Pattern& pattern : patterns_) longest = std::max(longest, pattern.n_matched);
  return longest;
}

std::string StopMatcher::push(std::string_view piece) {
  if (is_stopped()) return {};
  std::string out = std::move(held_);
  held_.clear();
  for (const char byte : piece) {
    out += byte;
    if (!advance_all(byte)) continue;
    out.resize(out.size() - patterns_[*stopped_by_].text.size());
    return out;
  }
  const size_t n_certain = out.size() - n_undecided();
  held_ = out.substr(n_certain);
  out.resize(n_certain);
  return out;
}

std::string StopMatcher::finish() {
  std::string out = std::move(held_);
  held_.clear();
  for (Pattern& pattern : patterns_) pattern.n_matched = 0;
  return out;
}

std::optional<std::string_view> StopMatcher::stopped_by() const {
  if (!stopped_by_) return std::nullopt;
  return patterns_[*stopped_by_].text;
}

}  // namespace vitro
