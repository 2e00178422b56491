#include "tensor/transpose.h"

#include <cstring>

namespace vitro {
namespace {

// T has the elements' size.
template <class T>
void transpose_as(const std::byte* __restrict in, int64_t n_rows, int64_t width, std::byte* __restrict out,
                  int64_t stride) {
  constexpr int64_t kRun = 8, kBytes = sizeof(T);
  if (n_rows == kRun) {
    for (int64_t i = 0; i < width; ++i) {
      T run[kRun];  // of a known length, which the compiler keeps in registers
      for (int64_t t = 0; t < kRun; ++t) std::memcpy(&run[t], in + (t * width + i) * kBytes, kBytes);
      std::memcpy(out + i * stride * kBytes, run, sizeof run);
    }
    return;
  }
  for (int64_t t = 0; t < n_rows; ++t) {
    for (int64_t i = 0; i < width; ++i) {
      std::memcpy(out + (i * stride + t) * kBytes, in + (t * width + i) * kBytes, kBytes);
    }
  }
}

}  // namespace

void transpose_elements(int64_t element_bytes, const std::byte* in, int64_t n_rows, int64_t width, std::byte* out,
                        int64_t stride) {
  if (element_bytes == 4) return transpose_as<uint32_t>(in, n_rows, width, out, stride);
  if (element_bytes == 2) return transpose_as<uint16_t>(in, n_rows, width, out, stride);
  transpose_as<uint8_t>(in, n_rows, width, out, stride);
}

}  // namespace vitro
