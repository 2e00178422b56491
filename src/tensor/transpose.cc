#include "tensor/transpose.h"

namespace vitro {
namespace {

template <class T>
void transpose_as(const std::byte* in, int64_t n_rows, int64_t width, std::byte* out, int64_t stride) {
  constexpr int64_t kRun = 8;
  const T* __restrict row = reinterpret_cast<const T*>(in);
  T* __restrict column = reinterpret_cast<T*>(out);
  if (n_rows == kRun) {  // with a known length the compiler makes vectors of it
    for (int64_t i = 0; i < width; ++i) {
      for (int64_t t = 0; t < kRun; ++t) column[i * stride + t] = row[t * width + i];
    }
    return;
  }
  for (int64_t t = 0; t < n_rows; ++t) {
    for (int64_t i = 0; i < width; ++i) column[i * stride + t] = row[t * width + i];
  }
}

}  // namespace

void transpose_elements(int64_t element_bytes, const std::byte* in, int64_t n_rows, int64_t width, std::byte* out,
                        int64_t stride) {
  if (element_bytes == 4) return transpose_as<float>(in, n_rows, width, out, stride);
  if (element_bytes == 2) return transpose_as<uint16_t>(in, n_rows, width, out, stride);
  transpose_as<uint8_t>(in, n_rows, width, out, stride);
}

}  // namespace vitro
