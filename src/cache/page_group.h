// PageGroup: which pages of one pool each sequence has. Bookkeeping only: no keys, no values, no bytes.
//
//   sequence 0: pages 4 0 7      positions 0..15 | 16..31 | 32..47  (page_size 16)
//   sequence 1: pages 4 0 2      the first two shared, counted twice; the third its own
//   sequence 2: pages . . 5 3    a window: the first two were given back
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace vitro {

using SequenceId = int32_t;

/// Pages that n_positions positions of one sequence take.
int64_t pages_for(int64_t n_positions, int64_t page_size);
/// Pages that a sequence of at most n_positions needs at once where a row sees `window` keys, itself included, and at
/// most n_batch rows are added at a time: the positions in use are window - 1 + n_batch, wherever a page begins.
///   min(pages_for(n_positions), pages_for(window + n_batch - 2) + 1)
int64_t window_pages_for(int64_t n_positions, int64_t window, int64_t n_batch, int64_t page_size);

struct PageGroupShape {
  int64_t window = 0;   ///< keys that a row sees, itself included; older pages are given back. 0: all are kept
  int64_t n_pages = 0;  ///< of the pool, shared by all sequences
};

/// A page whose positions must be copied before one of its owners writes on.
struct PageCopy {
  int32_t from = 0;
  int32_t to = 0;
};

/// Pages are counted: a page goes back to the pool when its last owner gives it up, and only a page with one owner is
/// written to. Allocates nothing after construction.
class PageGroup {
 public:
  PageGroup(const PageGroupShape& shape, int64_t page_size, int64_t n_sequences, int64_t n_positions);

  /// Bytes of the tables that the constructor makes: for each sequence its pages, for each page its owners and its
  /// place in the list of free ones.
  static int64_t table_bytes(const PageGroupShape& shape, int64_t page_size, int64_t n_sequences, int64_t n_positions);
  /// Bytes of the tables that are there.
  int64_t n_bytes() const;

  /// Pages that grow() would lack; 0: it can be called.
  int64_t n_missing(SequenceId sequence, int64_t length, int64_t n_positions) const;
  /// Makes positions [length, n_positions) of a sequence writable, having given back the pages that no row from
  /// `length` on can see. A last page that is partly filled and shared is replaced by one of its own: the caller copies
  /// it.
  std::optional<PageCopy> grow(SequenceId sequence, int64_t length, int64_t n_positions);
  /// True if all keys that a row at position n_positions sees are there.
  bool can_resume(SequenceId sequence, int64_t n_positions) const;
  /// Gives back the pages from n_positions on.
  void truncate(SequenceId sequence, int64_t n_positions);
  /// Gives `to`, which has no pages, those of the first n_positions of `from`.
  void share(SequenceId from, SequenceId to, int64_t n_positions);

  /// Page of each page_size positions; pages that were given back are kNoPage. Stays where it is.
  static constexpr int32_t kNoPage = -1;
  const int32_t* page_ids(SequenceId sequence) const { return tables_[static_cast<size_t>(sequence)].ids.data(); }
  int64_t n_free_pages() const { return static_cast<int64_t>(free_.size()); }

 private:
  struct Table {
    std::vector<int32_t> ids;
    int64_t n_dropped = 0;  ///< pages at the front that were given back
  };
  bool is_shared(int32_t page) const { return n_owners_[static_cast<size_t>(page)] > 1; }
  int64_t n_dropped_at(int64_t length) const;
  int32_t take();
  void give_back(int32_t page);

  // Constant after construction.
  PageGroupShape shape_;
  int64_t page_size_;

  // Model thread only.
  std::vector<Table> tables_;
  std::vector<int32_t> n_owners_;  ///< by page
  std::vector<int32_t> free_;
};

}  // namespace vitro
