// SlotBuilder: makes the slots of one stack, one call a module, under the foreign names of one format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/arch/slots.h"
#include "model/config.h"
#include "weights/slot.h"

namespace vitro {

class SlotBuilder {
 public:
  /// `ours` stands before all of our names ("encoder."). `names` must outlive the builder.
  SlotBuilder(const ModuleNames& names, std::string_view ours) : names_(names), ours_root_(ours), roots_(names.roots) {
    leave_blocks();
  }

  const ModuleNames& names() const { return names_; }
  /// The names that follow stand inside block i, or outside again.
  void enter_block(size_t i);
  void leave_blocks();
  void set_roots(std::span<const std::string_view> roots) { roots_ = roots; }

  /// The slot `ours`, found under `module` + `suffix` behind every root; of `source` all but the name counts.
  void add(std::string_view ours, std::string_view module, std::string_view suffix, Shape shape, TensorSource source);
  /// Another place for the slot just added.
  void add_source(std::string_view module, std::string_view suffix, TensorSource source);
  TensorSlot& last() { return slots_.back(); }

  /// A matrix outside the blocks, as the file has it.
  void add_plain(std::string_view ours, std::string_view module, Shape shape);
  void add_vector(std::string_view ours, std::string_view module, std::string_view suffix, int64_t n,
                  double fold = 0.0);
  /// A vector that is no parameter.
  void add_table(std::string_view ours, std::string_view module, std::string_view suffix, int64_t n);
  void add_norm(std::string_view ours, std::string_view module, const NormSpec& norm, int64_t width);
  /// A matrix of a block and its bias (b empty: none): rows `map` of a file tensor that has `file_rows` rows.
  void add_linear(std::string_view w, std::string_view b, std::string_view module, Shape shape, int64_t file_rows,
                  RowMap map);
  void add_linear(std::string_view w, std::string_view b, std::string_view module, Shape shape);

  std::vector<TensorSlot> take() { return std::move(slots_); }

 private:
  const ModuleNames& names_;
  std::string ours_root_;
  std::span<const std::string_view> roots_;
  std::string ours_, theirs_;
  std::vector<TensorSlot> slots_;
};

}  // namespace vitro
