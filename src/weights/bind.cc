#include "weights/bind.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "formats/quote_name.h"
#include "tensor/panel.h"

namespace vitro {
namespace {

// Of a message; and a stacked slot that lacks so many parts is not searched further, whatever number a file asks for.
constexpr size_t kMaxLines = 20;

/// Problems of one checkpoint; keeps the first lines and counts the rest, so that a hostile file cannot make the
/// message grow.
class Problems {
 public:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    if (++n_found_ <= kMaxLines) text_ += "\n  " + fmt::format(format, std::forward<Args>(args)...);
  }

  Status status(std::string_view where) const {
    if (n_found_ == 0) return {};
    const std::string more = n_found_ > kMaxLines ? fmt::format("\n  and {} more", n_found_ - kMaxLines) : "";
    return fail(ErrorCode::kInvalidArgument, "{}: the tensors do not fit the model's description:{}{}", where, text_,
                more);
  }

 private:
  std::string text_;
  size_t n_found_ = 0;
};

bool is_usable(SlotUse use, DType dtype) {
  if (use == SlotUse::kMatrix) return has_panel_layout(dtype);
  return dtype == DType::kF64 || dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

bool is_ignorable(std::string_view name, std::span<const std::string_view> ignorable) {
  return std::any_of(ignorable.begin(), ignorable.end(), [&](std::string_view pattern) {
    return pattern.starts_with('.') ? name.ends_with(pattern) : name == pattern;
  });
}

/// The first source whose name (that of its first part) is in the file; entry is null if there is none.
BoundTensor find_source(const Checkpoint& checkpoint, const TensorSlot& slot) {
  BoundTensor bound{.slot = &slot};
  for (size_t i = 0; i < slot.sources.size() && !bound.entry; ++i) {
    bound.entry = checkpoint.find(source_name(slot.sources[i], 0));
    bound.source_idx = static_cast<int>(i);
  }
  return bound;
}

/// Whether every row the slot takes lies inside the source's shape, and the widths agree. Slots are built from sizes
/// that a file names, so this is asked again where tensors are about to be read.
bool is_shape_inside(SlotUse use, const Shape& shape, const TensorSource& source, const Shape& file_shape) {
  const int rank = use == SlotUse::kMatrix ? 2 : 1;
  if (shape.rank() != rank) return false;
  if (rank == 1) return is_row_map_inside(source.rows, shape[0], file_shape.n_elements());
  if (file_shape.rank() != rank) return false;
  const int row_axis = source.is_transposed ? 1 : 0;
  if (file_shape[1 - row_axis] != shape[1]) return false;
  return is_row_map_inside(source.rows, shape[0], file_shape[row_axis]);
}

bool is_slot_inside(const TensorSlot& slot, const TensorSource& source) {
  if (!slot.is_stacked()) return is_shape_inside(slot.use, slot.shape, source, source.shape);
  if (source.is_one_by_one) return is_shape_inside(slot.use, part_shape(slot.shape), source, source.shape);
  if (source.shape.rank() != slot.shape.rank() || source.shape[0] != slot.shape[0]) return false;
  return is_shape_inside(slot.use, part_shape(slot.shape), source, part_shape(source.shape));
}

/// One pass over the slots. Fused tensors fill several slots; the same complaint about one is made once.
class Binder {
 public:
  explicit Binder(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  void bind(const TensorSlot& slot) {
    if (slot.use == SlotUse::kSkipped) return skip(slot.sources.at(0).name);
    BoundTensor bound = find_source(checkpoint_, slot);
    if (!bound.entry) {
      if (!slot.is_optional) add_missing(slot.sources.at(0), 0);
      return;
    }
    take(bound);
    if (!slot.is_stacked() || !bound.source().is_one_by_one) return;
    size_t n_missing = 0;
    for (bound.part = 1; bound.part < slot.shape[0] && n_missing < kMaxLines; ++bound.part) {
      bound.entry = checkpoint_.find(source_name(bound.source(), bound.part));
      if (bound.entry) take(bound);
      if (bound.entry) continue;
      ++n_missing;
      add_missing(bound.source(), bound.part);
    }
  }

  Result<std::vector<BoundTensor>> finish(std::span<const std::string_view> ignorable) {
    for (const WeightEntry& entry : checkpoint_.tensors()) {
      if (used_.contains(&entry) || is_ignorable(entry.name, ignorable)) continue;
      problems_.add("{} {} has no place in the model", quote_name(entry.name), to_string(entry.shape));
    }
    VITRO_TRY(problems_.status(checkpoint_.path().string()));
    return std::move(bound_);
  }

 private:
  void take(const BoundTensor& bound) {
    used_.insert(bound.entry);
    check(bound);
    bound_.push_back(bound);
  }

  void skip(std::string_view prefix) {
    for (const WeightEntry& entry : checkpoint_.tensors()) {
      if (entry.name.starts_with(prefix)) used_.insert(&entry);
    }
  }

  void check(const BoundTensor& bound) {
    const WeightEntry& entry = *bound.entry;
    const TensorSource& source = bound.source();
    if (entry.shape != source.shape && is_new(entry, to_string(source.shape))) {
      problems_.add("{} has shape {}, the description says {}", quote_name(entry.name), to_string(entry.shape),
                    to_string(source.shape));
    }
    const std::string_view use =
        bound.slot->use == SlotUse::kMatrix ? "a weight matrix" : "a vector (F64, F32, F16 or BF16 can)";
    if (!is_usable(bound.slot->use, entry.dtype) && is_new(entry, std::string(use))) {
      problems_.add("{} has type {}, which cannot be used for {}", quote_name(entry.name), dtype_info(entry.dtype).name,
                    use);
    }
    if (!is_slot_inside(*bound.slot, source)) {
      problems_.add("'{}' {} does not lie inside {} {}: the description contradicts itself", bound.slot->name,
                    to_string(bound.slot->shape), quote_name(entry.name), to_string(source.shape));
    }
  }

  /// True the first time that this is said about the tensor.
  bool is_new(const WeightEntry& entry, std::string complaint) {
    return complaints_.emplace(&entry, std::move(complaint)).second;
  }

  void add_missing(const TensorSource& source, int64_t part) {
    std::string name = source_name(source, part);
    if (missing_.contains(name)) return;
    problems_.add("'{}' {} is missing", name, to_string(source.shape));
    missing_.insert(std::move(name));
  }

  const Checkpoint& checkpoint_;
  Problems problems_;
  std::set<const WeightEntry*> used_;
  std::set<std::pair<const WeightEntry*, std::string>> complaints_;
  std::set<std::string> missing_;
  std::vector<BoundTensor> bound_;
};

}  // namespace

Result<std::vector<BoundTensor>> bind_tensors(const Checkpoint& checkpoint, std::span<const TensorSlot> slots,
                                              std::span<const std::string_view> ignorable) {
  Binder binder(checkpoint);
  for (const TensorSlot& slot : slots) binder.bind(slot);
  return binder.finish(ignorable);
}

}  // namespace vitro
