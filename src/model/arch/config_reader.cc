#include "model/arch/config_reader.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "formats/quote_name.h"

namespace vitro {
namespace {

// A hostile file may hold a million unknown keys; people read the first few.
constexpr size_t kMaxListed = 20;

/// The integer of a value: an integer, or a real that is one exactly (Python writes 4096.0 for some).
std::optional<int64_t> integer_of(const Value& value) {
  if (const int64_t* n = value.as_int()) return *n;
  if (const double* x = value.as_real(); x && std::abs(*x) < 9.0e15 && std::floor(*x) == *x)
    return static_cast<int64_t>(*x);
  return std::nullopt;
}

std::optional<double> real_of(const Value& value) {
  if (const double* x = value.as_real()) return *x;
  if (const int64_t* n = value.as_int()) return static_cast<double>(*n);
  return std::nullopt;
}

bool is_off(const Value& value) {
  return (value.as_bool() && !*value.as_bool()) || real_of(value) == 0.0 ||
         (value.as_array() && value.as_array()->empty()) || (value.as_object() && value.as_object()->empty());
}

/// "a; b; c" of at most kMaxListed items.
std::string joined(const std::vector<std::string>& items, std::string_view separator) {
  const size_t shown = std::min(items.size(), kMaxListed);
  std::string text =
      fmt::format("{}", fmt::join(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(shown), separator));
  if (shown < items.size()) text += fmt::format("{}and {} more", separator, items.size() - shown);
  return text;
}

}  // namespace

ConfigReader::ConfigReader(const Value& config, std::string prefix, std::string where)
    : config_(config), prefix_(std::move(prefix)), where_(std::move(where)) {}

std::string ConfigReader::display(std::string_view key) const { return outer_ + std::string(key); }

const Value* ConfigReader::lookup(Names names, std::string* found_name) {
  const Value* found = nullptr;
  for (const std::string_view name : names) {
    const std::string key = prefix_ + std::string(name);
    const Value* value = config_.find(key);
    if (!value) continue;
    seen_.insert(key);
    if (value->is_null()) continue;
    if (!found) {
      found = value;
      *found_name = key;
    } else if (to_string(*found) != to_string(*value)) {
      problem(fmt::format("'{}' = {} and '{}' = {} mean the same and differ", display(*found_name),
                          to_string(*found, 40), display(key), to_string(*value, 40)));
    }
  }
  return found;
}

void ConfigReader::record(std::string_view ours, const std::string& found_name, const Value& value) {
  values_.push_back({std::string(ours), display(found_name), to_string(value), ValueOrigin::kFile});
}

void ConfigReader::record_default(std::string_view ours, Names names, std::string value) {
  values_.push_back(
      {std::string(ours), display(prefix_ + std::string(*names.begin())), std::move(value), ValueOrigin::kDefault});
}

void ConfigReader::missing(Names names) {
  problem(fmt::format("missing key '{}{}{}'", outer_, prefix_, fmt::join(names, "' or '" + outer_ + prefix_)));
}

void ConfigReader::wrong_kind(const std::string& found_name, std::string_view expected, const Value& value) {
  problem(fmt::format("'{}' must be {}, found {} {}", display(found_name), expected, value.kind_name(),
                      to_string(value, 40)));
}

std::optional<int64_t> ConfigReader::read_int(std::string_view ours, Names names, std::string* found_name) {
  const Value* value = lookup(names, found_name);
  if (!value) return std::nullopt;
  record(ours, *found_name, *value);
  const std::optional<int64_t> n = integer_of(*value);
  if (!n) wrong_kind(*found_name, "an integer", *value);
  return n.value_or(1);
}

std::optional<double> ConfigReader::read_real(std::string_view ours, Names names) {
  std::string found_name;
  const Value* value = lookup(names, &found_name);
  if (!value) return std::nullopt;
  record(ours, found_name, *value);
  const std::optional<double> x = real_of(*value);
  if (!x) wrong_kind(found_name, "a number", *value);
  if (x && !std::isfinite(*x)) problem(fmt::format("'{}' = {} is not a finite number", display(found_name), *x));
  return x && std::isfinite(*x) ? *x : 1.0;
}

int64_t ConfigReader::need_int(std::string_view ours, Names names) {
  std::string found_name;
  const std::optional<int64_t> n = read_int(ours, names, &found_name);
  if (!n) missing(names);
  return n.value_or(1);
}

double ConfigReader::need_real(std::string_view ours, Names names) {
  const std::optional<double> x = read_real(ours, names);
  if (!x) missing(names);
  return x.value_or(1.0);
}

int64_t ConfigReader::get_int(std::string_view ours, Names names, int64_t default_value) {
  std::string found_name;
  if (const std::optional<int64_t> n = read_int(ours, names, &found_name)) return *n;
  record_default(ours, names, fmt::format("{}", default_value));
  return default_value;
}

double ConfigReader::get_real(std::string_view ours, Names names, double default_value) {
  if (const std::optional<double> x = read_real(ours, names)) return *x;
  record_default(ours, names, fmt::format("{}", default_value));
  return default_value;
}

int64_t ConfigReader::check_size(const std::string& found_name, int64_t value, int64_t max) {
  if (value >= 1 && value <= max) return value;
  problem(fmt::format("'{}' = {} must be between 1 and {}", display(found_name), value, max));
  return 1;
}

int64_t ConfigReader::need_size(std::string_view ours, Names names, int64_t max) {
  std::string found_name;
  const std::optional<int64_t> n = read_int(ours, names, &found_name);
  if (n) return check_size(found_name, *n, max);
  missing(names);
  return 1;
}

int64_t ConfigReader::get_size(std::string_view ours, Names names, int64_t default_value, int64_t max) {
  std::string found_name;
  if (const std::optional<int64_t> n = read_int(ours, names, &found_name)) return check_size(found_name, *n, max);
  record_default(ours, names, fmt::format("{}", default_value));
  return default_value;
}

bool ConfigReader::get_bool(std::string_view ours, Names names, bool default_value) {
  std::string found_name;
  const Value* value = lookup(names, &found_name);
  if (!value) {
    record_default(ours, names, default_value ? "true" : "false");
    return default_value;
  }
  record(ours, found_name, *value);
  if (!value->as_bool()) wrong_kind(found_name, "true or false", *value);
  return value->as_bool() ? *value->as_bool() : default_value;
}

std::string ConfigReader::get_string(std::string_view ours, Names names, std::string_view default_value) {
  std::string found_name;
  const Value* value = lookup(names, &found_name);
  if (!value) {
    record_default(ours, names, fmt::format("\"{}\"", default_value));
    return std::string(default_value);
  }
  record(ours, found_name, *value);
  if (!value->as_string()) wrong_kind(found_name, "a string", *value);
  return value->as_string() ? *value->as_string() : std::string(default_value);
}

std::string ConfigReader::need_string(std::string_view ours, Names names, std::string_view harmless) {
  if (!has(names)) missing(names);
  return get_string(ours, names, harmless);
}

bool ConfigReader::has(Names names) const {
  for (const std::string_view name : names) {
    const Value* value = config_.find(prefix_ + std::string(name));
    if (value && !value->is_null()) return true;
  }
  return false;
}

bool ConfigReader::is_null(std::string_view ours, std::string_view name) {
  const std::string key = prefix_ + std::string(name);
  const Value* value = config_.find(key);
  if (!value || !value->is_null()) return false;
  seen_.insert(key);
  record(ours, key, *value);
  return true;
}

const Value* ConfigReader::get_value(Names names) {
  std::string found_name;
  return lookup(names, &found_name);
}

const Value* ConfigReader::need_value(Names names) {
  const Value* value = get_value(names);
  if (!value) missing(names);
  return value;
}

std::vector<double> ConfigReader::get_reals(std::string_view ours, Names names) {
  std::string found_name;
  const Value* value = lookup(names, &found_name);
  if (!value) {
    missing(names);
    return {};
  }
  record(ours, found_name, *value);
  std::vector<double> reals;
  if (const Value::Array* items = value->as_array()) {
    for (const Value& item : *items) {
      if (const std::optional<double> x = real_of(item)) reals.push_back(*x);
    }
    if (reals.size() == items->size()) return reals;
  }
  wrong_kind(found_name, "a list of numbers", *value);
  return {};
}

void ConfigReader::ignore(std::span<const std::string_view> names) {
  for (const std::string_view name : names) seen_.insert(std::string(name));
}

void ConfigReader::expect_bool(std::string_view name, bool expected) {
  std::string found_name;
  const Value* value = lookup({name}, &found_name);
  if (!value || (value->as_bool() && *value->as_bool() == expected)) return;
  problem(fmt::format("'{}' = {} is not implemented (only {})", display(found_name), to_string(*value, 40), expected));
}

void ConfigReader::expect_int(std::string_view name, int64_t expected) {
  std::string found_name;
  const Value* value = lookup({name}, &found_name);
  if (!value || integer_of(*value) == expected) return;
  problem(fmt::format("'{}' = {} is not implemented (only {})", display(found_name), to_string(*value, 40), expected));
}

void ConfigReader::expect_string(std::string_view name, Names accepted) {
  std::string found_name;
  const Value* value = lookup({name}, &found_name);
  const std::string* text = value ? value->as_string() : nullptr;
  if (!value || (text && std::find(accepted.begin(), accepted.end(), *text) != accepted.end())) return;
  problem(fmt::format("'{}' = {} is not implemented (only {})", display(found_name), to_string(*value, 40),
                      fmt::join(accepted, ", ")));
}

void ConfigReader::expect_off(std::string_view name) { off_.emplace_back(name); }

void ConfigReader::check_off() {
  for (const std::string& name : off_) {
    if (seen_.contains(prefix_ + name)) continue;
    std::string found_name;
    const Value* value = lookup({name}, &found_name);
    if (value && !is_off(*value)) {
      problem(fmt::format("'{}' = {} is not implemented", display(found_name), to_string(*value, 40)));
    }
  }
}

ConfigReader ConfigReader::inner(const Value& object, std::string_view key) const {
  ConfigReader reader(object, "", where_);
  reader.outer_ = fmt::format("{}{}{}.", outer_, prefix_, key);
  return reader;
}

void ConfigReader::absorb(ConfigReader inner) {
  inner.collect_unknown();
  for (std::string& text : inner.problems_) problems_.push_back(std::move(text));
  for (std::string& key : inner.unknown_) unknown_.push_back(std::move(key));
  for (ConfigValue& value : inner.values_) values_.push_back(std::move(value));
}

std::string_view ConfigReader::source_of(std::string_view ours) const {
  const auto it =
      std::find_if(values_.rbegin(), values_.rend(), [&](const ConfigValue& value) { return value.name == ours; });
  return it == values_.rend() ? std::string_view() : it->source;
}

void ConfigReader::note(std::string_view ours, std::string_view source, std::string value, ValueOrigin origin) {
  values_.push_back({std::string(ours), std::string(source), std::move(value), origin});
}

void ConfigReader::problem(std::string text) { problems_.push_back(std::move(text)); }

void ConfigReader::collect_unknown() {
  check_off();
  const Value::Object* members = config_.as_object();
  if (!members) {
    const std::string what =
        outer_.empty() ? "the description" : fmt::format("'{}'", outer_.substr(0, outer_.size() - 1));
    return problem(fmt::format("{} must be an object, found {} {}", what, config_.kind_name(), to_string(config_, 40)));
  }
  for (const Value::Member& member : *members) {
    if (member.first.starts_with(prefix_) && !seen_.contains(member.first)) {
      unknown_.push_back(quote_name(display(member.first)));
    }
  }
}

Status ConfigReader::finish() {
  collect_unknown();
  if (problems_.empty() && unknown_.empty()) return {};
  std::string text = joined(problems_, "; ");
  if (!unknown_.empty()) {
    text += fmt::format("{}unknown {} {}: what the engine does not know may change what the model computes",
                        text.empty() ? "" : "; ", unknown_.size() == 1 ? "key" : "keys", joined(unknown_, ", "));
  }
  return fail(ErrorCode::kInvalidArgument, "[{}] {}", where_, text);
}

}  // namespace vitro
