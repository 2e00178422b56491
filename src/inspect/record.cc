#include "inspect/record.h"

#include "inspect/attention_map.h"

namespace vitro {

void Recorder::value(const HookSite& site, ConstRows rows) {
  Recorded& recorded = values_[{site.point, site.layer}];
  recorded.width = rows.width;
  for (int64_t t = 0; t < rows.n_rows; ++t)
    recorded.values.insert(recorded.values.end(), rows.row(t), rows.row(t) + rows.width);
}

void Recorder::attention(const AttentionSite& site) {
  Pattern& pattern = patterns_[site.layer];
  pattern.resize(static_cast<size_t>(site.shape.n_head));
  for (const SequenceRows& rows : site.batch.sequences) {
    for (int64_t i = 0; i < rows.n_rows; ++i) {
      for (int64_t h = 0; h < site.shape.n_head; ++h) {
        const int64_t pos = rows.first_pos + i;
        PatternRow row{site.shape.first_key(pos), attention_row(site, rows, i, h)};
        pattern[static_cast<size_t>(h)].push_back(std::move(row));
      }
    }
  }
}

void Recorder::clear() {
  values_.clear();
  patterns_.clear();
}

const Recorded* Recorder::find(HookPoint point, int64_t layer) const {
  const auto it = values_.find({point, layer});
  return it == values_.end() ? nullptr : &it->second;
}

const Recorder::Pattern* Recorder::pattern(int64_t layer) const {
  const auto it = patterns_.find(layer);
  return it == patterns_.end() ? nullptr : &it->second;
}

}  // namespace vitro
