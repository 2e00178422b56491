// The matmul kernels of the x86-64-v2 table. Bodies: kernels/body. Everything that is not ours is included above the
// region.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/matmul_tables.h"
#include "tensor/panel.h"
#include "tensor/quant_block.h"

#include "kernels/isa/open_v2-inl.h"

#include "kernels/isa/lanes_v2-inl.h"

namespace vitro::VITRO_ISA_NS {
constexpr int kTokenTile = 2;  ///< of sixteen registers eight for sums, four for weights, the rest for products
}
#include "kernels/body/decode-inl.h"

#include "kernels/body/codecs_32-inl.h"

#include "kernels/body/codecs_256-inl.h"

#include "kernels/body/matmul-inl.h"

#include "kernels/isa/close-inl.h"

namespace vitro {

const MatmulFn kV2Matmul[kNMatmulTypes] = {
#define VITRO_X(name, text, elements, bytes, gguf) v2::matmul_of<DType::name>(),
    VITRO_DTYPES(VITRO_X)
#undef VITRO_X
};

}  // namespace vitro
#endif
