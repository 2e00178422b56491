// Two texts beside each other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vitro {

/// Lines of at most `width` cells (wide characters take two), cut at blanks where there are some; line breaks and tabs
/// are kept as such (a tab as a blank), control characters become their pictures.
std::vector<std::string> wrapped(std::string_view text, int width);
/// Cells that a text takes on a terminal.
int display_width(std::string_view text);
/// The left text filled up to `width` cells, a bar, the right text, line by line.
std::string side_by_side(std::string_view left, std::string_view right, int width);
/// Columns of the terminal that standard output is, or 120.
int terminal_width();

}  // namespace vitro
