// ConfigReader: reads a foreign description key by key, remembers which keys were read, from where each value came, and
// every problem, so that one error lists them all.
#pragma once

#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "formats/value.h"
#include "model/config.h"

namespace vitro {

/// One reading of one config object. Getters never fail at once: a missing or wrong key adds a problem and returns a
/// harmless value; finish() reports. `names` are aliases, the first present one counts (two present with different
/// values: a problem). JSON null counts as missing. Every value that is read or defaulted is recorded under `ours` for
/// `show --config`.
class ConfigReader {
 public:
  using Names = std::initializer_list<std::string_view>;

  /// `prefix` is put before every key (GGUF: "llama."). `where` names the file kind in messages. `config` must outlive
  /// the reader.
  ConfigReader(const Value& config, std::string prefix, std::string where);

  /// Required integer / real; recorded under `ours`. Harmless value: 1.
  int64_t need_int(std::string_view ours, Names names);
  double need_real(std::string_view ours, Names names);
  /// With a default of the family; null in the file counts as missing.
  int64_t get_int(std::string_view ours, Names names, int64_t default_value);
  double get_real(std::string_view ours, Names names, double default_value);
  bool get_bool(std::string_view ours, Names names, bool default_value);
  std::string get_string(std::string_view ours, Names names, std::string_view default_value);
  /// Required string; missing is a problem, and gives `harmless`.
  std::string need_string(std::string_view ours, Names names, std::string_view harmless);

  /// Integers that must lie in [1, max], such as widths and counts: outside is a problem that names key and value, and
  /// gives 1.
  int64_t need_size(std::string_view ours, Names names, int64_t max = kMaxWidth);
  int64_t get_size(std::string_view ours, Names names, int64_t default_value, int64_t max = kMaxWidth);

  /// Whether one of the keys is there and not null.
  bool has(Names names) const;
  /// Whether the file says null where a missing key would mean the class's default: off, recorded under `ours`.
  bool is_null(std::string_view ours, std::string_view name);
  /// The raw member (marks it as read), or null if missing or JSON null.
  const Value* get_value(Names names);
  /// The same, but missing is a problem.
  const Value* need_value(Names names);
  /// Every element of an array of reals; a problem (and an empty list) if the member is anything else.
  std::vector<double> get_reals(std::string_view ours, Names names);

  /// Keys that change nothing the engine computes (dropout, initialiser, versions). Exact names, no prefix added.
  void ignore(std::span<const std::string_view> names);
  void ignore(Names names) { ignore(std::span<const std::string_view>(names.begin(), names.size())); }
  /// A key whose only accepted value is `expected`; anything else is a problem "not implemented". Missing or null is
  /// fine.
  void expect_bool(std::string_view name, bool expected);
  void expect_int(std::string_view name, int64_t expected);
  void expect_string(std::string_view name, Names accepted);
  /// A key that must be missing, null, false, 0, or an empty list: anything else switches on something that is not
  /// implemented. Until finish(), the family may still read it as a value of its own.
  void expect_off(std::string_view name);

  /// A reader of an object inside this one; give it back with absorb() instead of calling its finish().
  ConfigReader inner(const Value& object, std::string_view key) const;
  /// Takes over the values, problems and unknown keys of an inner reader.
  void absorb(ConfigReader inner);

  /// The key that gave the value last recorded as `ours`, or would have given it, for messages.
  std::string_view source_of(std::string_view ours) const;
  /// Records a value that has no key of its own in the file (derived or default).
  void note(std::string_view ours, std::string_view source, std::string value, ValueOrigin origin);
  /// Adds a problem in words.
  void problem(std::string text);
  std::vector<ConfigValue> take_values() { return std::move(values_); }

  /// InvalidArgument with every problem and every unknown key under the prefix (GGUF: other name spaces are not looked
  /// at).
  Status finish();

 private:
  const Value* lookup(Names names, std::string* found_name);
  std::optional<int64_t> read_int(std::string_view ours, Names names, std::string* found_name);
  std::optional<double> read_real(std::string_view ours, Names names);
  void record(std::string_view ours, const std::string& found_name, const Value& value);
  void record_default(std::string_view ours, Names names, std::string value);
  void missing(Names names);
  void wrong_kind(const std::string& found_name, std::string_view expected, const Value& value);
  int64_t check_size(const std::string& found_name, int64_t value, int64_t max);
  std::string display(std::string_view key) const;
  void check_off();
  void collect_unknown();

  const Value& config_;
  std::string prefix_;  // of keys inside config_
  std::string outer_;   // of keys in messages: path of an inner object
  std::string where_;
  std::set<std::string, std::less<>> seen_;
  std::vector<std::string> off_;  // of expect_off
  std::vector<std::string> problems_;
  std::vector<std::string> unknown_;
  std::vector<ConfigValue> values_;
};

}  // namespace vitro
