// The burst for v2: open the region, include, close, export.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>
#include <utility>

#include "kernels/burst/burst.h"

#include "kernels/isa/open_v2-inl.h"

#include "kernels/isa/lanes_v2-inl.h"

#include "kernels/burst/burst-inl.h"

#include "kernels/isa/close-inl.h"

namespace vitro {
constinit const Burst kBurstV2 = {v2::burst, v2::kBurstChains* kPanelRows};
}  // namespace vitro
#endif
