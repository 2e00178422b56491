// KvCache: keys and values of past tokens, in pages, rounded to a CacheType. A sequence is a table of pages
// (cache/page_group.h); pages are taken from pools that are allocated once. Keys are stored after the rotary step.
//
//   layer l, page p:  [ K elements: n_kv_head x d_head x page_size | V elements: n_kv_head x page_size x d_head
//                     | K scales: n_kv_head x n_scales x page_size | V scales: n_kv_head x page_size x n_scales ]
//
// Keys are transposed, so that attention reads the same index of neighbouring keys as one vector. Layers that keep the
// same range of positions form a group and share its page tables and the numbers of its pages; each layer has bytes of
// its own for every page of its group.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "cache/page_group.h"
#include "kernels/table.h"
#include "ops/context.h"
#include "tensor/buffer.h"
#include "tensor/view.h"

namespace vitro {

/// Shape of the cache of one layer.
struct KvLayerShape {
  int64_t n_kv_head = 0;
  int64_t d_head = 0;
  int64_t group = 0;  ///< index into KvCacheSpec::groups
};

struct KvCacheSpec {
  std::vector<KvLayerShape> layers;
  std::vector<PageGroupShape> groups;
  CacheType type = CacheType::kF32;
  int64_t page_size = 16;   ///< positions a page, a multiple of 8
  int64_t n_positions = 0;  ///< most of one sequence
  int64_t n_sequences = 1;  ///< most at once
};

/// InvalidArgument for a page size that is not a multiple of 8 from 8 to kMaxPageSize.
inline constexpr int64_t kMaxPageSize = 65536;
Status check_page_size(int64_t page_size);

/// Bytes of one page of one layer: the numbers above, rounded up to kKvPageAlignment.
inline constexpr int64_t kKvPageAlignment = Buffer::kAlignment;
int64_t kv_page_bytes(const KvCacheSpec& spec, const KvLayerShape& layer);
/// Bytes that one position takes in all layers, were there no pages: what a token costs.
int64_t kv_position_bytes(const KvCacheSpec& spec);
/// Bytes of all pages of all layers: what allocate() will ask for, exactly. InvalidArgument for a bad page size, a type
/// whose scales do not divide the heads of a layer, more pages than have numbers, or bytes that do not fit into 64
/// bits.
Result<int64_t> kv_cache_bytes(const KvCacheSpec& spec);
/// Bytes of the tables beside the pages, exactly: which pages each sequence has, who owns a page, where layers begin.
/// For a spec that kv_cache_bytes accepts.
int64_t kv_table_bytes(const KvCacheSpec& spec);

/// One thread at a time. Allocates nothing after construction.
class KvCache {
 public:
  static Result<KvCache> allocate(const KvCacheSpec& spec);

  /// Positions of a sequence that there is room for: [0, length).
  int64_t length(SequenceId sequence) const { return lengths_[static_cast<size_t>(sequence)]; }
  /// Makes room for positions [length, n_positions), which may then be appended; nothing to do if there are as many.
  /// Pages that no row from `length` on can see are given back. OutOfMemory (with pages wanted and free) leaves
  /// everything as it was.
  Status reserve(SequenceId sequence, int64_t n_positions);
  /// True if a sequence can be cut to its first n_positions, or lend them to another, and go on from there: it has
  /// them, and where layers keep a window its last keys are still there. Always true for 0.
  bool can_resume(SequenceId sequence, int64_t n_positions) const;
  /// Forgets positions from n_positions on and gives whole pages back. can_resume(sequence, n_positions) must hold
  /// where n_positions is less than its length.
  void truncate(SequenceId sequence, int64_t n_positions);
  /// Lets `to`, which must be empty, hold the first n_positions of `from`, in the same pages. Both may go on: a page is
  /// copied before it is written to while the other has it. can_resume(from, n_positions) must hold.
  void share(SequenceId from, SequenceId to, int64_t n_positions);

  /// Stores consecutive positions of one layer, in parallel: row t of k and v [n_rows, n_kv_head * d_head] is position
  /// first_pos + t. The positions must have been reserved, and not appended before.
  void append(int64_t layer, SequenceId sequence, int64_t first_pos, ConstRows k, ConstRows v, OpContext& ctx);
  /// Where attention finds one head of one layer. Valid until the next reserve, truncate or share of the sequence.
  KvHead head(int64_t layer, SequenceId sequence, int64_t kv_head) const;

  const KvCacheSpec& spec() const { return spec_; }
  int64_t n_free_pages(int64_t group = 0) const { return groups_[static_cast<size_t>(group)].n_free_pages(); }
  int64_t n_bytes() const { return static_cast<int64_t>(storage_.size()); }
  int64_t n_table_bytes() const;

 private:
  void copy_page(int64_t group, PageCopy copy);

  // Constant after construction.
  KvCacheSpec spec_;
  std::vector<int64_t> layer_offset_;  ///< bytes from the start of storage_ to each layer

  // Model thread only.
  Buffer storage_;
  std::vector<PageGroup> groups_;
  std::vector<int64_t> lengths_;
};

}  // namespace vitro
