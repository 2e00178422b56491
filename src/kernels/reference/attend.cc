// Reference twin of attention: per row two plain passes over the keys (maximum, then weights and weighted sum), double
// accumulation, no tiles, no spans. Formula: AttendArgs in table.h.
#include <algorithm>
#include <cmath>

#include "kernels/reference/reference.h"

namespace vitro::reference {
namespace {

/// Keys and values of one head, element by element, where KvHead says they are.
struct KvReader {
  const KvHead& kv;
  CacheType type;

  float key(int64_t pos, int64_t i) const {
    const int64_t column = pos % kv.page_size, page = page_offset(pos);
    const int64_t element = (i * kv.page_size + column) * cache_type_info(type).element_bytes;
    const int64_t scale = (scale_idx(i) * kv.page_size + column) * 2;
    return stored_value(type, kv.k_base + page + element, kv.k_scales + (has_scales() ? page + scale : 0));
  }
  float value(int64_t pos, int64_t i) const {
    const int64_t column = pos % kv.page_size, page = page_offset(pos);
    const int64_t element = (column * kv.d_head + i) * cache_type_info(type).element_bytes;
    const int64_t scale = (column * cache_n_scales(type, kv.d_head) + scale_idx(i)) * 2;
    return stored_value(type, kv.v_base + page + element, kv.v_scales + (has_scales() ? page + scale : 0));
  }

 private:
  int64_t page_offset(int64_t pos) const { return kv.page_ids[pos / kv.page_size] * kv.page_stride; }
  bool has_scales() const { return kv.scale_block > 0; }
  int64_t scale_idx(int64_t i) const { return has_scales() ? i / kv.scale_block : 0; }
};

double score(const KvReader& reader, const AttendArgs& args, const AttendRow& row, int64_t pos) {
  double sum = 0;
  for (int64_t i = 0; i < reader.kv.d_head; ++i) sum += static_cast<double>(row.q[i]) * reader.key(pos, i);
  const double x = args.scale * sum, cap = args.softcap;
  return (cap == 0 ? x : cap * std::tanh(x / cap)) + (row.bias == nullptr ? 0.0 : row.bias[pos]);
}

/// z = sum_p e^(s_p - m) V_p / l, with z summed in double in `sums` [d_head].
void attend_row(const KvReader& reader, const AttendArgs& args, const AttendRow& row, double* sums) {
  const int64_t d_head = reader.kv.d_head;
  double highest = -INFINITY, l = 0;
  for (int64_t p = row.first_pos; p <= row.last_pos; ++p) highest = std::max(highest, score(reader, args, row, p));
  std::fill(sums, sums + d_head, 0.0);
  for (int64_t p = row.first_pos; p <= row.last_pos; ++p) {
    const double weight = std::exp(score(reader, args, row, p) - highest);
    l += weight;
    for (int64_t i = 0; i < d_head; ++i) sums[i] += weight * reader.value(p, i);
  }
  const bool is_empty = row.first_pos > row.last_pos;
  for (int64_t i = 0; i < d_head; ++i) row.z[i] = is_empty ? 0.0F : static_cast<float>(sums[i] / l);
  *row.lse = is_empty ? -INFINITY : static_cast<float>(highest + std::log(l));
}

}  // namespace

void attend(CacheType type, const AttendArgs& args) {
  // The scratch of the fast kernels, 64-byte aligned and more than twice d_head floats, holds the doubles.
  auto* sums = reinterpret_cast<double*>(args.scratch);
  for (int64_t r = 0; r < args.n_rows; ++r) attend_row({args.kv, type}, args, args.rows[r], sums);
}

void attend_probs(CacheType type, const AttendProbsArgs& args) {
  const AttendArgs one_row{.kv = args.kv, .scale = args.scale, .softcap = args.softcap};
  for (int64_t p = args.row.first_pos; p <= args.row.last_pos; ++p) {
    const double s = score({args.kv, type}, one_row, args.row, p);
    args.probs[p - args.row.first_pos] = static_cast<float>(std::exp(s - static_cast<double>(*args.row.lse)));
  }
}

}  // namespace vitro::reference
