#include "ops/attend.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/checked_math.h"

namespace vitro {
namespace {

// How the query rows and heads of one sequence are cut into calls of the kernel, each with at most kAttendRows (row,
// head) pairs.
struct AttendCut {
  int64_t n_group_head;  // query heads of one KV head that a call takes
  int64_t n_rows;        // query rows that a call takes
  int64_t n_head_blocks, n_row_blocks;

  int64_t n_items(int64_t n_kv_head) const { return n_kv_head * n_head_blocks * n_row_blocks; }
};

AttendCut cut_work(const AttendShape& shape, int64_t n_rows, int n_threads) {
  const int64_t group = shape.n_head / shape.n_kv_head;
  AttendCut cut{std::min(group, kAttendRows), 0, 0, 0};
  // A single step has few items: split the heads of a group too, so that every thread has some.
  if (n_rows == 1 && shape.n_kv_head < n_threads)
    cut.n_group_head = ceil_div(cut.n_group_head, ceil_div(n_threads, shape.n_kv_head));
  cut.n_rows = std::max(kAttendRows / cut.n_group_head, int64_t{1});
  cut.n_head_blocks = ceil_div(group, cut.n_group_head);
  cut.n_row_blocks = ceil_div(n_rows, cut.n_rows);
  return cut;
}

struct AttendWork {
  const AttendShape& shape;
  const AttendSequence& sequence;
  AttendCut cut;
  ConstRows q;
  const AttendOut& out;
};

void run_item(const AttendWork& work, int64_t item, float* scratch, const KernelTable& kernels) {
  const auto& [shape, sequence, cut, q, out] = work;
  // Later rows see more keys: rows are taken from both ends in turn, so that contiguous shares of items cost the same.
  const int64_t turn = item % cut.n_row_blocks;
  const int64_t row_block = turn % 2 == 0 ? turn / 2 : cut.n_row_blocks - 1 - turn / 2;
  const int64_t head_item = item / cut.n_row_blocks;
  const int64_t kv_head = head_item / cut.n_head_blocks;
  const int64_t group = shape.n_head / shape.n_kv_head;
  const int64_t first_head = kv_head * group + head_item % cut.n_head_blocks * cut.n_group_head;
  const int64_t end_head = std::min(first_head + cut.n_group_head, (kv_head + 1) * group);
  const int64_t end_row = std::min((row_block + 1) * cut.n_rows, sequence.n_rows);

  std::array<AttendRow, kAttendRows> rows;
  int64_t n_rows = 0;
  for (int64_t i = row_block * cut.n_rows; i < end_row; ++i) {
    const int64_t t = sequence.first_row + i;
    const int64_t pos = sequence.first_pos + i;
    for (int64_t h = first_head; h < end_head; ++h) {
      rows[static_cast<size_t>(n_rows++)] = {
          q.row(t) + h * shape.d_head, out.z.row(t) + h * shape.d_head, out.lse.row(t) + h, shape.first_key(pos), pos,
          shape.bias.row(h, pos)};
    }
  }
  kernels.attend[static_cast<int>(shape.cache_type)](
      {sequence.heads[static_cast<size_t>(kv_head)], rows.data(), n_rows, shape.scale, shape.softcap, scratch});
}

}  // namespace

const float* AttendBias::row(int64_t head, int64_t q_pos) const {
  if (is_empty()) return nullptr;
  return table.row(head) + (is_relative ? table.width - kAttendTile - 1 - q_pos : 0);
}

void attend(const AttendShape& shape, std::span<const AttendSequence> sequences, ConstRows q, const AttendOut& out,
            Rows scratch, OpContext& ctx) {
  VITRO_SHAPE(out.z, q.n_rows, shape.n_head * shape.d_head);
  VITRO_SHAPE(out.lse, q.n_rows, shape.n_head);
  VITRO_SHAPE(scratch, ctx.pool->n_threads(), attend_scratch_floats(shape.d_head));
  for (const AttendSequence& sequence : sequences) {
    const AttendWork work{shape, sequence, cut_work(shape, sequence.n_rows, ctx.pool->n_threads()), q, out};
    ctx.pool->parallel_for(work.cut.n_items(shape.n_kv_head), 1, "attend", [&](int64_t begin, int64_t end, int worker) {
      for (int64_t item = begin; item < end; ++item) run_item(work, item, scratch.row(worker), *ctx.kernels);
    });
  }
}

}  // namespace vitro
