#include "cache/page_group.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/checked_math.h"
#include "base/held_bytes.h"

namespace vitro {

int64_t pages_for(int64_t n_positions, int64_t page_size) { return ceil_div(n_positions, page_size); }

int64_t window_pages_for(int64_t n_positions, int64_t window, int64_t n_batch, int64_t page_size) {
  return std::min(pages_for(n_positions, page_size), pages_for(window + n_batch - 2, page_size) + 1);
}

PageGroup::PageGroup(const PageGroupShape& shape, int64_t page_size, int64_t n_sequences, int64_t n_positions)
    : shape_(shape),
      page_size_(page_size),
      tables_(static_cast<size_t>(n_sequences)),
      n_owners_(static_cast<size_t>(shape.n_pages)),
      free_(static_cast<size_t>(shape.n_pages)) {
  std::iota(free_.rbegin(), free_.rend(), 0);  // page 0 is taken first
  for (Table& table : tables_) table.ids.reserve(static_cast<size_t>(pages_for(n_positions, page_size)));
}

int64_t PageGroup::table_bytes(const PageGroupShape& shape, int64_t page_size, int64_t n_sequences,
                               int64_t n_positions) {
  constexpr int64_t kId = sizeof(int32_t);
  const auto table = static_cast<int64_t>(sizeof(Table));
  return n_sequences * (table + pages_for(n_positions, page_size) * kId) + shape.n_pages * 2 * kId;
}

int64_t PageGroup::n_bytes() const {
  int64_t n_bytes = held_bytes(tables_) + held_bytes(n_owners_) + held_bytes(free_);
  for (const Table& table : tables_) n_bytes += held_bytes(table.ids);
  return n_bytes;
}

// Pages at the front that no row from position `length` on sees.
int64_t PageGroup::n_dropped_at(int64_t length) const {
  return shape_.window == 0 ? 0 : std::max<int64_t>(length - shape_.window + 1, 0) / page_size_;
}

int64_t PageGroup::n_missing(SequenceId sequence, int64_t length, int64_t n_positions) const {
  const Table& table = tables_[static_cast<size_t>(sequence)];
  int64_t n_available = n_free_pages();
  for (int64_t i = table.n_dropped; i < n_dropped_at(length); ++i) {
    if (!is_shared(table.ids[static_cast<size_t>(i)])) ++n_available;
  }
  const bool has_copy = length % page_size_ != 0 && is_shared(table.ids.back());
  const int64_t n_taken =
      pages_for(n_positions, page_size_) - static_cast<int64_t>(table.ids.size()) + (has_copy ? 1 : 0);
  return std::max<int64_t>(n_taken - n_available, 0);
}

std::optional<PageCopy> PageGroup::grow(SequenceId sequence, int64_t length, int64_t n_positions) {
  Table& table = tables_[static_cast<size_t>(sequence)];
  for (; table.n_dropped < n_dropped_at(length); ++table.n_dropped) {
    give_back(std::exchange(table.ids[static_cast<size_t>(table.n_dropped)], kNoPage));
  }
  std::optional<PageCopy> copy;
  if (length % page_size_ != 0 && is_shared(table.ids.back())) {
    copy = {table.ids.back(), take()};
    give_back(std::exchange(table.ids.back(), copy->to));
  }
  while (static_cast<int64_t>(table.ids.size()) < pages_for(n_positions, page_size_)) table.ids.push_back(take());
  return copy;
}

bool PageGroup::can_resume(SequenceId sequence, int64_t n_positions) const {
  return tables_[static_cast<size_t>(sequence)].n_dropped <= n_dropped_at(n_positions);
}

void PageGroup::truncate(SequenceId sequence, int64_t n_positions) {
  Table& table = tables_[static_cast<size_t>(sequence)];
  const auto n_kept = static_cast<size_t>(pages_for(n_positions, page_size_));
  for (; table.ids.size() > n_kept; table.ids.pop_back()) {
    if (table.ids.back() != kNoPage) give_back(table.ids.back());
  }
  table.n_dropped = std::min(table.n_dropped, static_cast<int64_t>(table.ids.size()));
}

void PageGroup::share(SequenceId from, SequenceId to, int64_t n_positions) {
  const Table& source = tables_[static_cast<size_t>(from)];
  Table& table = tables_[static_cast<size_t>(to)];
  VITRO_CHECK(table.ids.empty());
  table.ids.assign(source.ids.begin(), source.ids.begin() + pages_for(n_positions, page_size_));
  table.n_dropped = std::min(source.n_dropped, static_cast<int64_t>(table.ids.size()));
  for (size_t i = static_cast<size_t>(table.n_dropped); i < table.ids.size(); ++i) {
    ++n_owners_[static_cast<size_t>(table.ids[i])];
  }
}

int32_t PageGroup::take() {
  const int32_t page = free_.back();
  free_.pop_back();
  n_owners_[static_cast<size_t>(page)] = 1;
  return page;
}

void PageGroup::give_back(int32_t page) {
  if (--n_owners_[static_cast<size_t>(page)] == 0) free_.push_back(page);
}

}  // namespace vitro
