// The x86-64-v2 table (SSE4.2): four registers a lane type, no FMA.
// Bodies: kernels/body. Everything that is not ours is included above the region.
#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/check.h"
#include "kernels/isa/tables.h"
#include "kernels/matmul_tables.h"
#include "kernels/table.h"
#include "tensor/half.h"

#include "kernels/isa/open_v2-inl.h"

#include "kernels/isa/lanes_v2-inl.h"

#include "kernels/body/table-inl.h"

#include "kernels/isa/close-inl.h"

namespace vitro {
constinit const KernelTable kV2Table = v2::make_table("v2", kV2Matmul);
}  // namespace vitro
#endif
