// Turning a matrix of elements that keep their bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vitro {

/// out[i, t] = in[t, i]. Elements of 1, 2 or 4 bytes; in [n_rows, width] is dense, out [width, n_rows]
/// has `stride` elements from row to row and must not alias in. Eight rows at once are fastest.
void transpose_elements(int64_t element_bytes, const std::byte* in, int64_t n_rows, int64_t width, std::byte* out,
                        int64_t stride);

}  // namespace vitro
