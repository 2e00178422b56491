// The AVX-512 table (F, BW, DQ, VL): one register a lane type.
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

#include "kernels/isa/open_avx512-inl.h"

#include "kernels/isa/lanes_avx512-inl.h"

#include "kernels/body/table-inl.h"

#include "kernels/isa/close-inl.h"

namespace vitro {
constinit const KernelTable kAvx512Table = avx512::make_table("avx512", kAvx512Matmul);
}  // namespace vitro
#endif
