// A complete small kernel to copy: contract (this file), twin (dot_reference.cc), body (dot-inl.h), one stub an
// instruction set (dot_avx512.cc, dot_avx2.cc, dot_v2.cc), test (dot_test.cc). docs/writing-a-kernel.md walks through
// it.
#pragma once

#include <cstdint>

namespace vitro {

/// sum_i a[i] * b[i]
///   a, b  [n] read, any alignment; n >= 0
/// Lane l of sixteen sums the elements l, l + 16, ... in order; the fixed tree joins the lanes. Error at most about eps
/// * sqrt(n) of the sum of |a[i] b[i]|. A real kernel would be an entry of KernelTable instead.
using DotFn = float (*)(const float* a, const float* b, int64_t n) noexcept;

/// The twin: the formula in a plain loop, summed in double.
float dot_reference(const float* a, const float* b, int64_t n) noexcept;

#if defined(__x86_64__)
extern const DotFn kDotV2;
extern const DotFn kDotAvx2;
extern const DotFn kDotAvx512;
#endif

}  // namespace vitro
