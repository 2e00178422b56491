// KvCache: keys and values of past tokens, in pages. A sequence is a table of pages; pages are taken from one pool that
// is allocated once. Keys are stored after the rotary step.
//
//   layer l, page p:  [ K: n_kv_head x d_head x page_size | V: n_kv_head x page_size x d_head ]   float32
//   sequence 0: pages 4 0 7      positions 0..15 | 16..31 | 32..47 (page_size 16)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "kernels/table.h"
#include "ops/context.h"
#include "tensor/buffer.h"
#include "tensor/view.h"

namespace vitro {

using SequenceId = int32_t;

/// Shape of the cache of one layer.
struct KvLayerShape {
  int64_t n_kv_head = 0;
  int64_t d_head = 0;
};

struct KvCacheSpec {
  std::vector<KvLayerShape> layers;
  int64_t page_size = 16;   ///< positions a page, a multiple of 8
  int64_t n_pages = 0;      ///< pages of the pool, shared by all sequences
  int64_t n_sequences = 1;  ///< most sequences at once
};

/// InvalidArgument for a page size that is not a multiple of 8 from 8 to kMaxPageSize.
inline constexpr int64_t kMaxPageSize = 65536;
Status check_page_size(int64_t page_size);

/// Bytes of all pages of all layers: what allocate() will ask for, exactly. InvalidArgument for a page size that is not
/// a multiple of 8 from 8 to kMaxPageSize, or sizes that do not fit into 64 bits.
Result<int64_t> kv_cache_bytes(const KvCacheSpec& spec);
/// Pages that n_positions positions of one sequence take.
int64_t pages_for(int64_t n_positions, int64_t page_size);

class KvCache {
 public:
  static Result<KvCache> allocate(const KvCacheSpec& spec);

  /// Makes room for positions [0, n_positions) of a sequence. OutOfMemory (with pages wanted and free) leaves
  /// everything as it was.
  Status reserve(SequenceId sequence, int64_t n_positions);
  /// Forgets positions from n_positions on and gives whole pages back.
  void truncate(SequenceId sequence, int64_t n_positions);

  /// Stores one position of one layer: k and v are [n_kv_head, d_head]. The position must be reserved.
  void write(int64_t layer, SequenceId sequence, int64_t pos, const float* k, const float* v);
  /// Stores consecutive positions of one layer, in parallel: row t of k and v is position first_pos + t.
  void append(int64_t layer, SequenceId sequence, int64_t first_pos, ConstRows k, ConstRows v, OpContext& ctx);
  /// Where attention finds one head of one layer.
  KvHead head(int64_t layer, SequenceId sequence, int64_t kv_head) const;

  const KvCacheSpec& spec() const { return spec_; }
  int64_t n_free_pages() const { return static_cast<int64_t>(free_pages_.size()); }
  int64_t n_bytes() const { return static_cast<int64_t>(storage_.size()); }

 private:
  KvCacheSpec spec_;
  Buffer storage_;
  std::vector<int64_t> layer_offset_;  ///< floats from the start of storage_ to each layer
  std::vector<std::vector<int32_t>> page_tables_;
  std::vector<int32_t> free_pages_;
};

}  // namespace vitro
