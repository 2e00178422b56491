#include "net/retry.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "base/clock.h"

namespace vitro {
namespace {

constexpr double kLongestWait = 30;
constexpr double kLongestRetryAfter = 120;
constexpr double kWorthSaying = 2;

std::string reason(const HttpResponse& response) {
  return response.end != HttpEnd::kWhole ? response.end_reason : fmt::format("the server answered {}", response.status);
}

}  // namespace

bool is_passing(const HttpResponse& response) {
  if (response.end != HttpEnd::kWhole) return response.end == HttpEnd::kCut;
  constexpr int kStatuses[] = {408, 429, 500, 502, 503, 504};
  return std::find(std::begin(kStatuses), std::end(kStatuses), response.status) != std::end(kStatuses);
}

Result<bool> Retry::wait_after(const HttpResponse& response) {
  if (++n_failed_ >= options_.n_tries) return false;
  double wait_s = std::min(kLongestWait, options_.first_wait_s * std::exp2(n_failed_ - 1));
  std::random_device random;
  wait_s *= std::uniform_real_distribution<double>(1.0, 1.25)(random);
  if (const auto asked = retry_after_s(response)) wait_s = std::max(wait_s, *asked);
  if (wait_s > kLongestRetryAfter) return false;
  if (say_ && wait_s >= kWorthSaying) say_(fmt::format("{}; trying again in {:.0f} s", reason(response), wait_s));
  VITRO_TRY(sleep(wait_s));
  return true;
}

Status Retry::sleep(double seconds) const {
  constexpr auto kLook = std::chrono::milliseconds(50);
  for (const double until = now_seconds() + seconds; now_seconds() < until;) {
    if (options_.is_cancelled && options_.is_cancelled()) return fail(ErrorCode::kCancelled, "stopped");
    std::this_thread::sleep_for(std::min<std::chrono::duration<double>>(
        kLook, std::chrono::duration<double>(std::max(0.0, until - now_seconds()))));
  }
  return {};
}

}  // namespace vitro
