#include "ops/rope.h"

#include <cmath>

namespace vitro {

void fill_rope_rows(std::span<const double> frequencies, double attention_factor, int64_t first_pos,
                    const RopeTables& tables, OpContext& ctx) {
  ctx.pool->parallel_for(tables.cos.n_rows, 4, "rope_rows", [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) {
      for (size_t i = 0; i < frequencies.size(); ++i) {
        const double angle = static_cast<double>(first_pos + t) * frequencies[i];
        tables.cos.row(t)[i] = static_cast<float>(attention_factor * std::cos(angle));
        tables.sin.row(t)[i] = static_cast<float>(attention_factor * std::sin(angle));
      }
    }
  });
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
