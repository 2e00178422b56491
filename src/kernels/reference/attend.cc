// Reference twin of attention: per row two plain passes over the keys (maximum, then weights and weighted sum), double
// accumulation, no tiles, no spans. Formula: AttendArgs in table.h.
#include <algorithm>
#include <cmath>

#include "kernels/reference/reference.h"

namespace vitro::reference {
namespace {

const float* page_of(const KvHead& kv, const std::byte* base, int64_t pos) {
  return reinterpret_cast<const float*>(base + kv.page_ids[pos / kv.page_size] * kv.page_stride);
}

double score(const KvHead& kv, const float* q, int64_t pos, double scale) {
  const float* key = page_of(kv, kv.k_base, pos) + pos % kv.page_size;
  double sum = 0;
  for (int64_t i = 0; i < kv.d_head; ++i) sum += static_cast<double>(q[i]) * key[i * kv.page_size];
  return scale * sum;
}

/// z = sum_p e^(s_p - m) V_p / l, with z summed in double in `sums` [d_head].
void attend_row(const AttendArgs& args, const AttendRow& row, double* sums) {
  const KvHead& kv = args.kv;
  double highest = -INFINITY, l = 0;
  for (int64_t p = row.first_pos; p <= row.last_pos; ++p) highest = std::max(highest, score(kv, row.q, p, args.scale));
  std::fill(sums, sums + kv.d_head, 0.0);
  for (int64_t p = row.first_pos; p <= row.last_pos; ++p) {
    const double weight = std::exp(score(kv, row.q, p, args.scale) - highest);
    const float* value = page_of(kv, kv.v_base, p) + p % kv.page_size * kv.d_head;
    l += weight;
    for (int64_t i = 0; i < kv.d_head; ++i) sums[i] += weight * value[i];
  }
  const bool is_empty = row.first_pos > row.last_pos;
  for (int64_t i = 0; i < kv.d_head; ++i) row.z[i] = is_empty ? 0.0F : static_cast<float>(sums[i] / l);
  *row.lse = is_empty ? -INFINITY : static_cast<float>(highest + std::log(l));
}

}  // namespace

void attend(const AttendArgs& args) noexcept {
  // The scratch of the fast kernels, 64-byte aligned and more than twice d_head floats, holds the doubles.
  auto* sums = reinterpret_cast<double*>(args.scratch);
  for (int64_t r = 0; r < args.n_rows; ++r) attend_row(args, args.rows[r], sums);
}

void attend_probs(const AttendProbsArgs& args) noexcept {
  for (int64_t p = args.row.first_pos; p <= args.row.last_pos; ++p) {
    const double s = score(args.kv, args.row.q, p, args.scale);
    args.probs[p - args.row.first_pos] = static_cast<float>(std::exp(s - static_cast<double>(*args.row.lse)));
  }
}

}  // namespace vitro::reference
