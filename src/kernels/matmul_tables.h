// The matmul kernels of each instruction set, indexed by static_cast<int>(DType); null where the type has none. Filled
// in reference/matmul.cc and isa/matmul_*.cc; the tables (reference/table.cc, isa/*.cc) point at them.
#pragma once

#include "kernels/table.h"

namespace vitro {

inline constexpr int kNMatmulTypes = 64;

extern const MatmulFn kReferenceMatmul[kNMatmulTypes];
extern const MatmulFn kV2Matmul[kNMatmulTypes];
extern const MatmulFn kAvx2Matmul[kNMatmulTypes];
extern const MatmulFn kAvx512Matmul[kNMatmulTypes];

}  // namespace vitro
