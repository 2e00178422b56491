#include "inspect/attention_map.h"

#include <algorithm>

namespace vitro {

std::vector<float> attention_row(const AttentionSite& site, const SequenceRows& rows, int64_t i, int64_t head) {
  const AttendShape& shape = site.shape;
  const int64_t t = rows.first_row + i;
  const int64_t pos = rows.first_pos + i;
  const int64_t first_key = shape.first_key(pos);
  std::vector<float> probs(static_cast<size_t>(pos - first_key + 1));
  float lse = site.lse.row(t)[head];
  AttendProbsArgs args;
  args.kv = site.cache.head(site.layer, rows.sequence, head / (shape.n_head / shape.n_kv_head));
  args.row = {site.q.row(t) + head * shape.d_head, nullptr, &lse, first_key, pos, shape.bias.row(head, pos)};
  args.scale = shape.scale;
  args.softcap = shape.softcap;
  args.probs = probs.data();
  site.kernels.attend_probs[static_cast<int>(shape.cache_type)](args);
  return probs;
}

void LastRowLooks::attention(const AttentionSite& site) {
  const SequenceRows& rows = site.batch.sequences.back();
  const int64_t last = rows.n_rows - 1;
  for (int64_t h = 0; h < site.shape.n_head; ++h) {
    rows_.push_back({site.layer, h, site.shape.first_key(rows.first_pos + last), attention_row(site, rows, last, h)});
  }
}

std::vector<HeadLook> LastRowLooks::strongest(size_t n) const {
  std::vector<HeadLook> looks;
  for (const Row& row : rows_) {
    for (size_t j = 0; j + 1 < row.probs.size(); ++j) {
      const int64_t key = row.first_key + static_cast<int64_t>(j);
      if (key > 0) looks.push_back({row.layer, row.head, key, row.probs[j]});
    }
  }
  std::stable_sort(looks.begin(), looks.end(),
                   [](const HeadLook& a, const HeadLook& b) { return a.probability > b.probability; });
  looks.resize(std::min(n, looks.size()));
  return looks;
}

std::vector<float> LastRowLooks::mean_by_key() const {
  std::vector<float> mean;
  for (const Row& row : rows_) {
    mean.resize(std::max(mean.size(), static_cast<size_t>(row.first_key) + row.probs.size()));
    for (size_t j = 0; j < row.probs.size(); ++j) mean[static_cast<size_t>(row.first_key) + j] += row.probs[j];
  }
  for (float& value : mean) value /= static_cast<float>(std::max(rows_.size(), size_t{1}));
  return mean;
}

}  // namespace vitro
