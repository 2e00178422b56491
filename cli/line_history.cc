#include "cli/line_history.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/read_file.h"
#include "base/write_file.h"
#include "formats/json.h"

namespace vitro {
namespace {

constexpr size_t kMaxFileBytes = size_t{64} << 20;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::vector<std::string> load_history(const std::filesystem::path& path) {
  const Result<std::string> text = read_small_file(path, kMaxFileBytes);
  if (!text) return {};
  std::vector<std::string_view> lines = lines_of(*text);
  const size_t n_lines = lines.size();
  if (n_lines > kMaxHistory) lines.erase(lines.begin(), lines.end() - static_cast<ptrdiff_t>(kMaxHistory));
  std::vector<std::string> out;
  std::string kept;
  for (const std::string_view line : lines) {
    const Result<Value> value = parse_json(line, "history");
    if (!value || !value->as_string()) continue;
    out.push_back(*value->as_string());
    kept.append(line) += '\n';
  }
  if (n_lines > 2 * kMaxHistory) static_cast<void>(write_file(path, kept, true).has_value());
  return out;
}

void append_history(const std::filesystem::path& path, std::string_view text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  const std::string line = json_quote(text) + "\n";
  // One write: lines of two programs do not mix.
  static_cast<void>(::write(file, line.data(), line.size()) == 0);
  ::close(file);
}

}  // namespace vitro
