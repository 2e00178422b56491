#include "ops/norm.h"

#include "base/check.h"

namespace vitro {
namespace {

/// Head `head` of a row, or a whole row as head 0.
void run_norm(const NormOp& op, int64_t head, const float* x, int64_t n, float* out, const KernelTable& kernels) {
  const auto of_head = [&](const float* p) { return p == nullptr ? p : p + head * op.gain_stride; };
  const NormArgs args{x, of_head(op.gain), of_head(op.bias), op.gain_offset, op.eps, n, out};
  op.kind == NormOp::Kind::kRms ? kernels.rms_norm(args) : kernels.layer_norm(args);
}

}  // namespace

void normalize(const NormOp& op, ConstRows x, Rows out, OpContext& ctx) {
  VITRO_SHAPE(out, x.n_rows, x.width);
  VITRO_DCHECK(op.gain_stride == 0);
  ctx.pool->parallel_for(x.n_rows, 4, "normalize", [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) run_norm(op, 0, x.row(t), x.width, out.row(t), *ctx.kernels);
  });
}

void normalize_heads(const NormOp& op, Rows x, int64_t d_head, OpContext& ctx) {
  VITRO_DCHECK(x.width % d_head == 0);
  ctx.pool->parallel_for(x.n_rows, 4, "normalize_heads", [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) {
      for (int64_t h = 0; h < x.width / d_head; ++h) {
        float* head = x.row(t) + h * d_head;
        run_norm(op, h, head, d_head, head, *ctx.kernels);
      }
    }
  });
}

}  // namespace vitro
