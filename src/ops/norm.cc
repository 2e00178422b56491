#include "ops/norm.h"

#include "base/check.h"

namespace vitro {
namespace {

void run_norm(const NormOp& op, const float* x, int64_t n, float* out, const KernelTable& kernels) {
  const NormArgs args{x, op.gain, op.bias, op.gain_offset, op.eps, n, out};
  op.kind == NormOp::Kind::kRms ? kernels.rms_norm(args) : kernels.layer_norm(args);
}

}  // namespace

void normalize(const NormOp& op, ConstRows x, Rows out, OpContext& ctx) {
  VITRO_SHAPE(out, x.n_rows, x.width);
  ctx.pool->parallel_for(x.n_rows, 4, "normalize", [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) run_norm(op, x.row(t), x.width, out.row(t), *ctx.kernels);
  });
}

void normalize_heads(const NormOp& op, Rows x, int64_t d_head, OpContext& ctx) {
  VITRO_DCHECK(x.width % d_head == 0);
  ctx.pool->parallel_for(x.n_rows, 4, "normalize_heads", [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) {
      NormOp head = op;
      for (int64_t i = 0; i < x.width; i += d_head) {
        run_norm(head, x.row(t) + i, d_head, x.row(t) + i, *ctx.kernels);
        if (head.gain) head.gain += op.head_stride;
        if (head.bias) head.bias += op.head_stride;
      }
    }
  });
}

}  // namespace vitro
