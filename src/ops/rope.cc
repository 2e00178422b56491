#include "ops/rope.h"

#include <cmath>

namespace vitro {

void rope_row(std::span<const double> frequencies, double attention_factor, int64_t pos, float* cos, float* sin) {
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double angle = static_cast<double>(pos) * frequencies[i];
    cos[i] = static_cast<float>(attention_factor * std::cos(angle));
    sin[i] = static_cast<float>(attention_factor * std::sin(angle));
  }
}

void rotate(const RopeTables& tables, Rows x, int64_t d_head, OpContext& ctx) {
  VITRO_SHAPE(tables.sin, x.n_rows, tables.cos.width);
  const int64_t n_pairs = tables.cos.width;
  ctx.pool->parallel_for(x.n_rows, 4, "rotate", [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) {
      ctx.kernels->rope(
          {x.row(t), x.width / d_head, d_head, n_pairs, tables.cos.row(t), tables.sin.row(t), tables.is_adjacent});
    }
  });
}

}  // namespace vitro
