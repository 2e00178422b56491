#include "text/jinja/filters.h"

#include <algorithm>

#include "text/jinja/operators.h"

namespace vitro::jinja {

const FilterEntry* find_filter(std::string_view name) {
  for (const std::span<const FilterEntry> table :
       {text_filters(), layout_filters(), sequence_filters(), select_filters(), number_filters()}) {
    const auto it = std::find_if(table.begin(), table.end(), [&](const FilterEntry& f) { return f.name == name; });
    if (it != table.end()) return &*it;
  }
  return nullptr;
}

Result<Val> apply_filter(Runtime& rt, const FilterEntry& filter, const Val& value, Arguments args) {
  if (!filter.is_brief) VITRO_TRY(rt.charge_texts(value, args.args));
  if (filter.run_raw != nullptr) return filter.run_raw(rt, value, std::move(args));
  VITRO_TRY_ASSIGN(const std::vector<Val> bound, bind_arguments(filter.name, filter.parameters, std::move(args)));
  return filter.run(rt, value, bound);
}

Result<bool> apply_test(Runtime& rt, const TestEntry& test, const Val& value, Arguments args) {
  VITRO_TRY_ASSIGN(const std::vector<Val> bound, bind_arguments(test.name, test.parameters, std::move(args)));
  return test.run(rt, value, bound);
}

}  // namespace vitro::jinja
