// The filters and tests of jinja2, by name.
#pragma once

#include <span>

#include "text/jinja/arguments.h"

namespace vitro::jinja {

struct FilterEntry {
  std::string_view name;
  std::string_view parameters;
  Result<Val> (*run)(Runtime& rt, const Val& value, const std::vector<Val>& args);
  /// Set instead of `run` by filters that take any arguments.
  Result<Val> (*run_raw)(Runtime& rt, const Val& value, Arguments args) = nullptr;
  bool is_brief = false;  ///< does not read its texts from end to end
};

struct TestEntry {
  std::string_view name;
  std::string_view parameters;
  Result<bool> (*run)(Runtime& rt, const Val& value, const std::vector<Val>& args);
};

/// Null if there is none.
const FilterEntry* find_filter(std::string_view name);
const TestEntry* find_test(std::string_view name);

Result<Val> apply_filter(Runtime& rt, const FilterEntry& filter, const Val& value, Arguments args);
Result<bool> apply_test(Runtime& rt, const TestEntry& test, const Val& value, Arguments args);

/// The tables, one a file.
std::span<const FilterEntry> text_filters();
std::span<const FilterEntry> layout_filters();
std::span<const FilterEntry> sequence_filters();
std::span<const FilterEntry> select_filters();
std::span<const FilterEntry> number_filters();

}  // namespace vitro::jinja
