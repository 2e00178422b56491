#include "ops/linear.h"

#include <algorithm>

#include "base/check.h"

namespace vitro {
namespace {

// Panels [begin, end) of one job.
void run_panels(ConstRows x, const LinearJob& job, int64_t begin, int64_t end, const KernelTable& kernels) {
  const int64_t first_row = begin * kPanelRows;
  MatmulArgs args;
  args.panels = job.w.panel(begin);
  args.n_rows = std::min(end * kPanelRows, job.w.n_rows) - first_row;
  args.n_cols = job.w.n_cols;
  args.x = x.data;
  args.x_stride = x.stride;
  args.n_tokens = x.n_rows;
  args.bias = job.bias ? job.bias + first_row : nullptr;
  args.y = job.y.data + first_row;
  args.y_stride = job.y.stride;
  kernels.matmul[static_cast<int>(job.w.dtype)](args);
}

}  // namespace

void linear(ConstRows x, std::span<const LinearJob> jobs, OpContext& ctx) {
  int64_t n_panels = 0;
  for (const LinearJob& job : jobs) {
    VITRO_SHAPE(job.y, x.n_rows, job.w.n_rows);
    VITRO_DCHECK(job.w.n_cols == x.width && ctx.kernels->matmul[static_cast<int>(job.w.dtype)]);
    n_panels += job.w.n_panels();
  }
  ctx.pool->parallel_for(n_panels, 1, "linear", [&](int64_t begin, int64_t end, int) {
    int64_t first = 0;  // panel number of the job's first panel within the group
    for (const LinearJob& job : jobs) {
      const int64_t job_begin = std::max(begin - first, int64_t{0});
      const int64_t job_end = std::min(end - first, job.w.n_panels());
      if (job_begin < job_end) run_panels(x, job, job_begin, job_end, *ctx.kernels);
      first += job.w.n_panels();
    }
  });
}

void gather_rows(const PanelMatrix& table, std::span<const int32_t> ids, Rows out, OpContext& ctx) {
  VITRO_SHAPE(out, static_cast<int64_t>(ids.size()), table.n_cols);
  ctx.pool->parallel_for(out.n_rows, 1, "gather_rows", [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t id = ids[static_cast<size_t>(t)];
      VITRO_DCHECK(id >= 0 && id < table.n_rows);
      unpack_panel_row(table.dtype, table.panel(id / kRowsPerPanel), id % kRowsPerPanel, table.n_cols, out.row(t));
    }
  });
}

}  // namespace vitro
