// Binding: which tensor of the file is which slot of the model. Shapes and types are compared by name; every problem is
// reported at once.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "formats/checkpoint.h"
#include "weights/slot.h"

namespace vitro {

/// A slot and the file tensor that fills it. Points into the slots and the checkpoint given to bind_tensors; both
/// outlive it.
struct BoundTensor {
  const TensorSlot* slot = nullptr;
  const WeightEntry* entry = nullptr;
  int source_idx = 0;
  int64_t part = 0;  ///< of a stacked slot whose parts are tensors of their own: which

  const TensorSource& source() const { return slot->sources[static_cast<size_t>(source_idx)]; }
  /// What the entry fills: the slot, or one part of it.
  Shape shape() const { return source().is_one_by_one ? part_shape(slot->shape) : slot->shape; }
};

/// One BoundTensor for each slot that the file fills, or for each part where the file has them one by one, in slot
/// order. Slots to skip give none. InvalidArgument listing (at most 20 lines, then
/// "and N more") every missing tensor, wrong shape (of every use of a tensor), unusable type, every slot whose rows do
/// not lie inside its source, and every tensor of the file that no slot uses and that `ignorable` does not excuse.
/// `ignorable`: names, or suffixes starting with '.', of tensors that carry nothing (masks, rotary tables, a repeated
/// tied head).
Result<std::vector<BoundTensor>> bind_tensors(const Checkpoint& checkpoint, std::span<const TensorSlot> slots,
                                              std::span<const std::string_view> ignorable);

}  // namespace vitro
