// The reference matmul: the definition, every sum in double, rounded once. Plain loops; a weight row is de-quantised
// once a call.
#include <algorithm>

#include "kernels/matmul_tables.h"
#include "tensor/panel.h"
#include "tensor/quant_block.h"

namespace vitro {
namespace {

constexpr int64_t kColumns = 512;  ///< de-quantised at a time; a multiple of every block
constexpr int64_t kTokens = 64;    ///< whose sums are open at a time

double dot(const float* w, const float* x, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(w[i]) * static_cast<double>(x[i]);
  return sum;
}

/// Row `row` of the range, for tokens first .. first + count - 1, count <= kTokens.
void matmul_row(DType dtype, const MatmulArgs& args, int64_t row, int64_t first, int64_t count) {
  const std::byte* panel = args.panels + row / kPanelRows * panel_bytes(dtype, args.n_cols);
  float w[kColumns];
  double sums[kTokens] = {};
  for (int64_t col = 0; col < args.n_cols; col += kColumns) {
    const int64_t n = std::min(kColumns, args.n_cols - col);
    unpack_panel_columns(dtype, panel, row % kPanelRows, {col, n}, w);
    for (int64_t t = 0; t < count; ++t) sums[t] += dot(w, args.x + (first + t) * args.x_stride + col, n);
  }
  const double bias = args.bias == nullptr ? 0.0 : static_cast<double>(args.bias[row]);
  for (int64_t t = 0; t < count; ++t) args.y[(first + t) * args.y_stride + row] = static_cast<float>(sums[t] + bias);
}

template <DType kType>
void matmul(const MatmulArgs& args) noexcept {
  for (int64_t first = 0; first < args.n_tokens; first += kTokens) {
    const int64_t count = std::min(kTokens, args.n_tokens - first);
    for (int64_t row = 0; row < args.n_rows; ++row) matmul_row(kType, args, row, first, count);
  }
}

template <DType kType>
constexpr MatmulFn matmul_of() {
  if constexpr (block_layout(kType).columns > 0) return matmul<kType>;
  return nullptr;
}

}  // namespace

const MatmulFn kReferenceMatmul[kNMatmulTypes] = {
#define VITRO_X(name, text, elements, bytes, gguf) matmul_of<DType::name>(),
    VITRO_DTYPES(VITRO_X)
#undef VITRO_X
};

}  // namespace vitro
