// The matmul kernels of the AVX-512 table. Bodies: kernels/body. Everything that is not ours is included above the
// region.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/matmul_tables.h"
#include "tensor/panel.h"
#include "tensor/quant_block.h"

#include "kernels/isa/open_avx512-inl.h"

#include "kernels/isa/lanes_avx512-inl.h"

namespace vitro::VITRO_ISA_NS {
constexpr int kTokenTile = 16;  ///< of thirty-two registers sixteen for sums, one for weights, room to overlap
}
#include "kernels/body/decode-inl.h"

#include "kernels/body/codecs_32-inl.h"

#include "kernels/body/codecs_256-inl.h"

#include "kernels/body/matmul-inl.h"

#include "kernels/isa/close-inl.h"

namespace vitro {

const MatmulFn kAvx512Matmul[kNMatmulTypes] = {
#define VITRO_X(name, text, elements, bytes, gguf) avx512::matmul_of<DType::name>(),
    VITRO_DTYPES(VITRO_X)
#undef VITRO_X
};

}  // namespace vitro
#endif
