// The burst for avx2: open the region, include, close, export.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>
#include <utility>

#include "kernels/burst/burst.h"

#include "kernels/isa/open_avx2-inl.h"

#include "kernels/isa/lanes_avx2-inl.h"

#include "kernels/burst/burst-inl.h"

#include "kernels/isa/close-inl.h"

namespace vitro {
constinit const Burst kBurstAvx2 = {avx2::burst, avx2::kBurstChains* kPanelRows};
}  // namespace vitro
#endif
