#include "plan/item.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/human.h"
#include "base/saturating.h"

namespace vitro {

std::string_view certainty_name(Certainty certainty) {
  switch (certainty) {
    case Certainty::kExact:
      return "exact";
    case Certainty::kMeasured:
      return "measured";
    case Certainty::kEstimated:
      break;
  }
  return "estimated";
}

PlanItem sum_item(std::string name, std::vector<PlanItem> parts, ItemKind kind) {
  std::erase_if(parts, [](const PlanItem& part) { return part.amount == 0; });
  PlanItem item{.name = std::move(name), .kind = kind};
  for (const PlanItem& part : parts) {
    item.amount = sat_add(item.amount, part.amount);
    item.certainty = std::max(item.certainty, part.certainty);
  }
  item.parts = std::move(parts);
  return item;
}

const PlanItem* find_item(const PlanItem& root, std::string_view path) {
  if (path.empty()) return &root;
  const size_t slash = std::min(path.find('/'), path.size());
  const auto part = std::find_if(root.parts.begin(), root.parts.end(),
                                 [&](const PlanItem& item) { return item.name == path.substr(0, slash); });
  if (part == root.parts.end()) return nullptr;
  return find_item(*part, path.substr(std::min(slash + 1, path.size())));
}

const PlanItem& largest_part(const PlanItem& item) {
  const auto largest = std::max_element(item.parts.begin(), item.parts.end(),
                                        [](const auto& a, const auto& b) { return a.amount < b.amount; });
  return largest == item.parts.end() ? item : *largest;
}

Status check_amounts(const PlanItem& root, std::string_view unit) {
  for (const PlanItem& part : root.parts) VITRO_TRY(check_amounts(part, unit));
  if (root.amount != kSaturated) return {};
  return fail(ErrorCode::kInvalidArgument,
              "{}: more than 2^63 {}{}{}; is a size of the model or of the question wrong?", root.name, unit,
              root.arithmetic.empty() ? "" : ": ", root.arithmetic);
}

PlanItem product_item(std::string name, const std::vector<Factor>& factors, Certainty certainty) {
  PlanItem item{.name = std::move(name), .amount = 1, .certainty = certainty};
  for (const Factor& factor : factors) {
    item.amount = sat_mul(item.amount, factor.value);
    if (factor.value == 1 && factor.unit.empty()) continue;
    const std::string number = human_count(factor.value) + factor.unit;
    const std::string_view times = item.formula.empty() ? "" : " x ";
    item.formula += fmt::format("{}{}", times, factor.name.empty() ? number : factor.name);
    item.arithmetic += fmt::format("{}{}", times, number);
  }
  return item;
}

}  // namespace vitro
