// A clock that only goes forward, for measuring durations.
#pragma once

#include <chrono>

namespace vitro {

/// Seconds since some fixed moment.
inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace vitro
