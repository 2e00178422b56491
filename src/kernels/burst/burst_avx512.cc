// The burst for avx512: open the region, include, close, export.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>
#include <utility>

#include "kernels/burst/burst.h"

#include "kernels/isa/open_avx512-inl.h"

#include "kernels/isa/lanes_avx512-inl.h"

#include "kernels/burst/burst-inl.h"

#include "kernels/isa/close-inl.h"

namespace vitro {
constinit const Burst kBurstAvx512 = {avx512::burst, avx512::kBurstChains* kPanelRows};
}  // namespace vitro
#endif
