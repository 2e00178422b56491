// The skeleton's kernel for avx2: open the region, include, close, export.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>

#include "kernels/skeleton/dot.h"
#include "kernels/table.h"

#include "kernels/isa/open_avx2-inl.h"

#include "kernels/isa/lanes_avx2-inl.h"

#include "kernels/body/vector_loop-inl.h"

#include "kernels/skeleton/dot-inl.h"

#include "kernels/isa/close-inl.h"

namespace vitro {
constinit const DotFn kDotAvx2 = avx2::dot;
}  // namespace vitro
#endif
