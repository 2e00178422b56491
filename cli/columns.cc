#include "cli/columns.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cwchar>

#include "cli/terminal.h"
#include "text/utf8.h"

namespace vitro {
namespace {

int cells(char32_t c) { return std::max(::wcwidth(static_cast<wchar_t>(c)), 0); }

// Wraps one line that has no line break in it.
void wrap_line(std::string_view line, int width, std::vector<std::string>& out) {
  while (true) {
    size_t pos = 0, after_blank = 0;
    for (int used = 0; pos < line.size();) {
      const CodePoint c = decode_utf8(line.substr(pos));
      used += cells(c.value);
      if (used > width && pos > 0) break;
      pos += static_cast<size_t>(c.n_bytes);
      if (c.value == ' ') after_blank = pos;
    }
    const size_t end = pos == line.size() || after_blank == 0 ? pos : after_blank;
    out.emplace_back(line.substr(0, end));
    line.remove_prefix(end);
    if (line.empty()) return;
  }
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, int width) {
  std::string clean = for_terminal(text, true);
  std::replace(clean.begin(), clean.end(), '\t', ' ');
  std::vector<std::string> out;
  std::string_view rest = clean;
  while (true) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    wrap_line(rest.substr(0, end), std::max(width, 2), out);
    if (end == rest.size()) return out;
    rest.remove_prefix(end + 1);
  }
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const CodePoint c = decode_utf8(text);
    width += cells(c.value);
    text.remove_prefix(static_cast<size_t>(c.n_bytes));
  }
  return width;
}

std::string side_by_side(std::string_view left, std::string_view right, int width) {
  const std::vector<std::string> a = wrapped(left, width), b = wrapped(right, width);
  std::string out;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string& cell = i < a.size() ? a[i] : std::string();
    out += cell + std::string(static_cast<size_t>(std::max(width - display_width(cell), 0)), ' ') + " │ ";
    if (i < b.size()) out += b[i];
    out += '\n';
  }
  return out;
}

int terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 120;
}

}  // namespace vitro
