#include "base/memory.h"

#include <malloc.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "base/human.h"

namespace vitro {
namespace {

// The number after `key` in a file of "key number" lines, or the file's only number for an empty key.
std::optional<int64_t> read_number(const char* path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  int64_t value = 0;
  if (key.empty()) return file >> value ? std::optional(value) : std::nullopt;
  while (file >> word) {
    if (word == key) return file >> value ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

int64_t available_memory_bytes() {
  int64_t available = std::numeric_limits<int64_t>::max();
  if (const auto kib = read_number("/proc/meminfo", "MemAvailable:")) available = *kib * 1024;
  const auto limit = read_number("/sys/fs/cgroup/memory.max", "");  // "max" reads as no number: no limit
  const auto used = read_number("/sys/fs/cgroup/memory.current", "");
  if (limit && used) available = std::min(available, std::max(*limit - *used, int64_t{0}));
  return available;
}

int64_t heap_bytes() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
#else
  return 0;
#endif
}

Status check_memory(int64_t n_bytes, const char* purpose) {
  const int64_t available = available_memory_bytes();
  if (n_bytes <= available) return {};
  return fail(ErrorCode::kOutOfMemory,
              "{} would take {}, {} are available; a shorter --context or a smaller model may fit", purpose,
              human_bytes(static_cast<uint64_t>(n_bytes)), human_bytes(static_cast<uint64_t>(available)));
}

}  // namespace vitro
