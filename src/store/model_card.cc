#include "store/model_card.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/letters.h"

namespace vitro {
namespace {

constexpr size_t kMaxLicense = 200;

/// A scalar without its quotes, and a remark behind it.
std::string scalar(std::string_view text) {
  text = trimmed(text.substr(0, text.find(" #")));
  const bool is_quoted = text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
  if (is_quoted) text = text.substr(1, text.size() - 2);
  std::string out(text.substr(0, kMaxLicense));
  std::erase_if(out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  return out;
}

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// The value of a key at the beginning of a line: what follows it, or the first item of a list below it.
std::string value_of(std::string_view front_matter, std::string_view key) {
  while (!front_matter.empty()) {
    const std::string_view line = take_line(front_matter);
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ':') continue;
    std::string_view value = trimmed(line.substr(key.size() + 1));
    if (value.empty()) {
      const std::string_view next = trimmed(take_line(front_matter));
      return next.starts_with("- ") ? scalar(next.substr(2)) : "";
    }
    if (value.starts_with('[')) value = value.substr(1, value.find_first_of(",]") - 1);
    return scalar(value);
  }
  return "";
}

/// What is between the first two lines of "---".
std::string_view front_matter_of(std::string_view text) {
  text = text.substr(0, kMaxFrontMatter);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (trimmed(take_line(text)) != "---") return {};
  for (std::string_view rest = text; !rest.empty();) {
    const size_t at = text.size() - rest.size();
    if (trimmed(take_line(rest)) == "---") return text.substr(0, at);
  }
  return {};
}

}  // namespace

std::string license_of_card(std::string_view readme) {
  const std::string_view front_matter = front_matter_of(readme);
  const std::string license = value_of(front_matter, "license");
  if (license != "other") return license;
  const std::string name = value_of(front_matter, "license_name");
  const std::string link = value_of(front_matter, "license_link");
  return (name.empty() ? license : name) + (link.empty() ? "" : fmt::format(" ({})", link));
}

}  // namespace vitro
