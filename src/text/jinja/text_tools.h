// Pieces of Python's str methods that filters and methods share.
#pragma once

#include <functional>

#include "text/jinja/runtime.h"

namespace vitro::jinja {

enum class Side { kLeft, kRight, kBoth };
/// str.strip: of white space, or of the characters of a set.
MarkedText strip(const MarkedText& text, Side side, const std::string* chars = nullptr);

/// First place of `needle` in text[begin, end), or npos; an empty needle is found at once.
size_t find_bytes(std::string_view text, std::string_view needle, size_t begin = 0);

/// Searching from the end may compare the needle at every place: pays for that beforehand.
Status charge_backward_search(Runtime& rt, size_t n_text, size_t n_needle);

/// str.replace, at most max_count times (negative: always).
Result<Val> replace_text(Runtime& rt, const StringObject& text, const MarkedText& from, const MarkedText& to,
                         int64_t max_count);

/// str.splitlines: parts without their line ends, or with them.
std::vector<ByteRange> split_lines(std::string_view text, bool keeps_ends);
/// str.split at white space, at most max_splits times (negative: always), from the right or left.
std::vector<ByteRange> split_space(std::string_view text, int64_t max_splits, bool is_from_right);
/// str.split at a separator that is not empty.
std::vector<ByteRange> split_at(std::string_view text, std::string_view separator, int64_t max_splits,
                                bool is_from_right);

enum class Case { kUpper, kLower, kTitle, kFold };
/// The text with every character mapped; marks go with their characters.
Result<MarkedText> map_case(Runtime& rt, const MarkedText& text, Case to);
/// First character title case, the rest lower case.
Result<MarkedText> capitalize(Runtime& rt, const MarkedText& text);
/// str.title.
Result<MarkedText> title_words(Runtime& rt, const MarkedText& text);

/// Padded to a width in characters.
enum class Align { kLeft, kRight, kCenter };
Result<Val> pad(Runtime& rt, const StringObject& text, int64_t width, std::string_view fill, Align align);

/// True if the text has cased characters and all of them are of this case.
bool is_upper_text(std::string_view text);
bool is_lower_text(std::string_view text);

/// sorted(): stable; the first error of a comparison wins.
Status sort_values(Runtime& rt, std::vector<Val>& values, const std::function<Result<Val>(const Val&)>& key,
                   bool is_reverse);

}  // namespace vitro::jinja
