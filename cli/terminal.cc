#include "cli/terminal.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "base/human.h"
#include "text/utf8.h"

namespace vitro {
namespace {

// Global because a signal handler can reach nothing else.
std::atomic<bool> g_is_interrupted{false};
// Why writing to stdout failed first, 0 while it has not; global as stdout itself is.
int g_output_errno = 0;

bool note_output(bool is_written) {
  if (!is_written && g_output_errno == 0) g_output_errno = errno ? errno : EIO;
  return g_output_errno == 0;
}

}  // namespace

bool put_text(std::string_view text) {
  if (g_output_errno != 0) return false;
  return note_output(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

bool put_json(const Value& value) { return put_text(to_string(value, std::numeric_limits<size_t>::max()) + "\n"); }

bool flush_output() { return g_output_errno == 0 && note_output(std::fflush(stdout) == 0); }

int finish_output(int exit_code) {
  if (flush_output()) return exit_code;
  if (g_output_errno != EPIPE) talk("vitro: the output cannot be written: {}\n", std::strerror(g_output_errno));
  return 1;
}

void vtalk(fmt::string_view format, fmt::format_args args) noexcept {
  try {
    const std::string text = fmt::vformat(format, args);
    std::fwrite(text.data(), 1, text.size(), stderr);
  } catch (const std::exception&) {
    // No memory left for words: the exit code still tells.
  }
}

void catch_interrupt() {
  std::signal(SIGINT, [](int) { g_is_interrupted.store(true); });
}

bool is_interrupted() { return g_is_interrupted.load(); }

void forget_interrupt() { g_is_interrupted.store(false); }

void release_interrupt() { std::signal(SIGINT, SIG_DFL); }

int report_error(std::string_view command, const Error& error) {
  talk("vitro {}: {}\n", command, for_terminal(error.message, true));  // it may quote a file or a server
  return 1;
}

std::string bar(double fraction, int width) {
  constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double clamped = std::clamp(std::isfinite(fraction) ? fraction : 0.0, 0.0, 1.0);
  const auto eighths = static_cast<int>(std::lround(clamped * width * 8));
  std::string out;
  for (int i = 0; i < eighths / 8; ++i) out += "█";
  return out + std::string(kEighths[static_cast<size_t>(eighths % 8)]);
}

bool is_terminal(int file_descriptor) { return ::isatty(file_descriptor) == 1; }

std::string for_terminal(std::string_view text, bool is_terminal) {
  if (!is_terminal) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const CodePoint c = decode_utf8(text);
    const bool is_control = c.value < 0x20 || (c.value >= 0x7F && c.value < 0xA0);
    if (!is_control || c.value == '\n' || c.value == '\t') {
      append_utf8(out, c.value);
    } else {
      append_utf8(out, c.value < 0x20 ? 0x2400 + c.value : 0x2421);
    }
    text.remove_prefix(static_cast<size_t>(c.n_bytes));
  }
  return out;
}

Progress::Progress(std::string label, Unit unit) : label_(std::move(label)), unit_(unit), start_ms_(now_ms()) {}

void Progress::erase() {
  if (is_shown_) talk("\r\033[K");
  is_shown_ = false;
}

void Progress::update(int64_t n_done, int64_t n_total) {
  constexpr int64_t kDelayMs = 500, kRedrawMs = 100;
  const int64_t now = now_ms();
  if (n_at_start_ < 0) n_at_start_ = n_done;
  if (now - start_ms_ < kDelayMs || now - drawn_ms_ < kRedrawMs || n_total <= 0 || !is_terminal(STDERR_FILENO)) return;
  const double fraction = static_cast<double>(n_done) / static_cast<double>(n_total);
  const double per_second = static_cast<double>(n_done - n_at_start_) * 1e3 / static_cast<double>(now - start_ms_);
  std::string more;
  if (unit_ == Unit::kBytes) {
    more = fmt::format("{} of {}, {}/s", human_bytes(static_cast<uint64_t>(n_done)),
                       human_bytes(static_cast<uint64_t>(n_total)), human_bytes(static_cast<uint64_t>(per_second)));
  }
  if (per_second > 0) {
    more += fmt::format("{}{} left", more.empty() ? "" : ", ",
                        human_seconds(static_cast<double>(n_total - n_done) / per_second));
  }
  talk("\r{} {:3.0f}% ▕{}\033[{}G▏ {}\033[K", label_, 100 * fraction, bar(fraction, 20), label_.size() + 28, more);
  std::fflush(stderr);
  drawn_ms_ = now;
  is_shown_ = true;
}

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int64_t now_ms() { return static_cast<int64_t>(now_seconds() * 1e3); }

int64_t peak_rss_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace vitro
