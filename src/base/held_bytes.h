// What a container has asked the system for: its room, not what lies in it. Owners of planned memory add these up.
#pragma once

#include <cstdint>
#include <vector>

namespace vitro {

template <class T>
int64_t held_bytes(const std::vector<T>& values) {
  return static_cast<int64_t>(values.capacity() * sizeof(T));
}

}  // namespace vitro
