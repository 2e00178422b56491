#include "model/arch/slot_builder.h"

#include <fmt/core.h>

namespace vitro {

void SlotBuilder::enter_block(size_t i) {
  ours_ = fmt::format("{}blocks.{}.", ours_root_, i);
  theirs_ = fmt::format("{}{}.", names_.block, i);
}

void SlotBuilder::leave_blocks() {
  ours_ = ours_root_;
  theirs_.clear();
}

void SlotBuilder::add(std::string_view ours, std::string_view module, std::string_view suffix, Shape shape,
                      TensorSource source) {
  TensorSlot slot;
  slot.name = ours_ + std::string(ours);
  slot.shape = shape;
  slot.use = shape.rank() >= 2 ? SlotUse::kMatrix : SlotUse::kVector;
  slots_.push_back(std::move(slot));
  add_source(module, suffix, std::move(source));
}

void SlotBuilder::add_source(std::string_view module, std::string_view suffix, TensorSource source) {
  for (const std::string_view root : roots_) {
    slots_.back().sources.push_back(source);
    std::string& name = slots_.back().sources.back().name;
    name.reserve(root.size() + theirs_.size() + module.size() + suffix.size());
    for (const std::string_view part : {root, std::string_view(theirs_), module, suffix}) name += part;
  }
}

void SlotBuilder::add_plain(std::string_view ours, std::string_view module, Shape shape) {
  add(ours, module, ".weight", shape, {.shape = shape});
}

void SlotBuilder::add_vector(std::string_view ours, std::string_view module, std::string_view suffix, int64_t n,
                             double fold) {
  add(ours, module, suffix, {n}, {.shape = {n}, .add = fold});
}

void SlotBuilder::add_table(std::string_view ours, std::string_view module, std::string_view suffix, int64_t n) {
  add_vector(ours, module, suffix, n);
  last().is_parameter = false;
}

void SlotBuilder::add_norm(std::string_view ours, std::string_view module, const NormSpec& norm, int64_t width) {
  if (norm.kind == NormKind::kNone) return;
  if (norm.has_gain) add_vector(fmt::format("{}.gain", ours), module, names_.norm_gain, width, names_.norm_add);
  if (norm.has_bias) add_vector(fmt::format("{}.bias", ours), module, names_.norm_bias, width);
}

void SlotBuilder::add_linear(std::string_view w, std::string_view b, std::string_view module, Shape shape,
                             int64_t file_rows, RowMap map) {
  const int64_t width = shape[1];
  const Shape file_shape = names_.is_transposed ? Shape{width, file_rows} : Shape{file_rows, width};
  add(w, module, ".weight", shape, {.shape = file_shape, .rows = map, .is_transposed = names_.is_transposed});
  if (!b.empty()) add(b, module, ".bias", {shape[0]}, {.shape = {file_rows}, .rows = map});
}

void SlotBuilder::add_linear(std::string_view w, std::string_view b, std::string_view module, Shape shape) {
  add_linear(w, b, module, shape, shape[0], {});
}

}  // namespace vitro
