#include "ops/elementwise.h"

#include <algorithm>

#include "base/check.h"

namespace vitro {
namespace {

// Rows one thread takes at once: enough work to be worth a start.
constexpr int64_t kRowGrain = 4;

template <class Body>
void for_rows(int64_t n_rows, const char* name, OpContext& ctx, Body body) {
  ctx.pool->parallel_for(n_rows, kRowGrain, name, [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) body(t);
  });
}

}  // namespace

void add(ConstRows a, ConstRows b, Rows out, OpContext& ctx) {
  VITRO_SHAPE(a, out.n_rows, out.width);
  VITRO_SHAPE(b, out.n_rows, out.width);
  for_rows(out.n_rows, "add", ctx, [&](int64_t t) { ctx.kernels->add(a.row(t), b.row(t), out.width, out.row(t)); });
}

void scale(Rows x, float factor, OpContext& ctx) {
  for_rows(x.n_rows, "scale", ctx, [&](int64_t t) { ctx.kernels->scale(x.row(t), factor, x.width, x.row(t)); });
}

void softcap(Rows x, float cap, OpContext& ctx) {
  VITRO_DCHECK(cap > 0);
  for_rows(x.n_rows, "softcap", ctx, [&](int64_t t) { ctx.kernels->softcap(x.row(t), cap, x.width, x.row(t)); });
}

void clamp(Rows x, float limit, OpContext& ctx) {
  VITRO_DCHECK(limit >= 0);
  for_rows(x.n_rows, "clamp", ctx, [&](int64_t t) { ctx.kernels->clamp(x.row(t), limit, x.width, x.row(t)); });
}

void activate(Activation f, Rows x, OpContext& ctx) {
  const auto kernel = ctx.kernels->activate[static_cast<int>(f)];
  for_rows(x.n_rows, "activate", ctx, [&](int64_t t) { kernel(x.row(t), x.width, x.row(t)); });
}

void activate_gate(Activation f, Rows gate, ConstRows up, OpContext& ctx) {
  VITRO_SHAPE(up, gate.n_rows, gate.width);
  const auto kernel = ctx.kernels->activate_gate[static_cast<int>(f)];
  for_rows(gate.n_rows, "activate_gate", ctx,
           [&](int64_t t) { kernel(gate.row(t), up.row(t), gate.width, gate.row(t)); });
}

void copy_rows(ConstRows x, std::span<const int32_t> rows, Rows out) {
  VITRO_SHAPE(out, static_cast<int64_t>(rows.size()), x.width);
  for (int64_t i = 0; i < out.n_rows; ++i) std::copy_n(x.row(rows[static_cast<size_t>(i)]), x.width, out.row(i));
}

}  // namespace vitro
