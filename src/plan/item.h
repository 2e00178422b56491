// PlanItem: one owner of bytes, parameters or FLOPs with the arithmetic that gives its figure; owners stand in trees.
// Everything that plan/ computes comes in this form, so that one printer, one JSON writer and one picture serve all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace vitro {

/// How far a figure can be trusted. exact: what the engine allocates, or arithmetic on the description alone.
/// estimated: a formula for what is not ours. measured: taken on this machine.
enum class Certainty : uint8_t { kExact, kMeasured, kEstimated };
std::string_view certainty_name(Certainty certainty);

/// What an owner is, where something is decided by it; names are for people.
enum class ItemKind : uint8_t { kOther, kWeights, kCache, kGradients, kScores };

struct PlanItem {
  std::string name;    ///< "attention", "layers with window 512", "logits"
  int64_t amount = 0;  ///< of a parent: the sum of its parts. kSaturated: does not fit into 64 bits
  Certainty certainty = Certainty::kExact;
  std::string formula = {};     ///< in the names of the description: "n_layer x 2 x n_kv_head x d_head x 2 B"
  std::string arithmetic = {};  ///< the same with the numbers put in: "32 x 2 x 32 x 128 x 2 B"
  std::vector<PlanItem> parts = {};
  ItemKind kind = ItemKind::kOther;
};

/// The owner of `parts`: their sum (saturating), as certain as the least certain of them. Parts without an amount are
/// dropped.
PlanItem sum_item(std::string name, std::vector<PlanItem> parts, ItemKind kind = ItemKind::kOther);
/// The part at a path of names, "weights/attention/q"; null if there is none.
const PlanItem* find_item(const PlanItem& root, std::string_view path);
/// The part that takes most: what to make smaller. The item itself if it has no parts.
const PlanItem& largest_part(const PlanItem& item);
/// InvalidArgument where an amount does not fit into 64 bits, naming the item.
Status check_amounts(const PlanItem& root, std::string_view unit);

/// Writes formula and arithmetic side by side: factors in order, "name x name" and "3 x 5". A factor of 1 without a
/// unit is left out.
struct Factor {
  std::string name;
  int64_t value = 0;
  std::string unit = {};  ///< " B" behind the last factor of a size
};
/// An item that is a product.
PlanItem product_item(std::string name, const std::vector<Factor>& factors, Certainty certainty = Certainty::kExact);

}  // namespace vitro
