#include "cli/terminal.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <numeric>
#include <vector>

namespace vitro {
namespace {

// The one mutable global: a signal handler can reach nothing else.
std::atomic<bool> g_is_interrupted{false};

}  // namespace

void catch_interrupt() {
  std::signal(SIGINT, [](int) { g_is_interrupted.store(true); });
}

bool is_interrupted() { return g_is_interrupted.load(); }

int report_error(std::string_view command, const Error& error) {
  fmt::print(stderr, "vitro {}: {}\n", command, error.message);
  return 1;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substitute = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substitute, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
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

Progress::Progress(std::string label) : label_(std::move(label)), start_ms_(now_ms()) {}

Progress::~Progress() {
  if (is_shown_) fmt::print(stderr, "\r\033[K");
}

void Progress::update(int64_t n_done, int64_t n_total) {
  constexpr int64_t kDelayMs = 500, kRedrawMs = 100;
  const int64_t now = now_ms();
  if (now - start_ms_ < kDelayMs || now - drawn_ms_ < kRedrawMs || n_total <= 0 || !is_terminal(STDERR_FILENO)) return;
  const double fraction = static_cast<double>(n_done) / static_cast<double>(n_total);
  const double seconds = static_cast<double>(now - start_ms_) / 1e3;
  const double left = fraction > 0 ? seconds / fraction - seconds : 0;
  fmt::print(stderr, "\r{} {:3.0f}% ▕{}\033[42G▏ {:.0f} s left\033[K", label_, 100 * fraction, bar(fraction, 20), left);
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
