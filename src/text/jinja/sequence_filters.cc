// Filters on sequences and dicts: join, sort, first, batch, groupby, ...
#include "text/jinja/attributes.h"
#include "text/jinja/filters.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/text_tools.h"

namespace vitro::jinja {
namespace {

using Args = const std::vector<Val>&;

bool flag(const Val& value) { return !value.is_missing() && is_true(value); }

/// Texts in lower case, everything else as it is.
Result<Val> ignoring_case(Runtime& rt, const Val& value) {
  if (!value.is_string()) return value;
  VITRO_TRY_ASSIGN(MarkedText text, map_case(rt, value.as_string().marked, Case::kLower));
  return rt.string(std::move(text));
}

/// The attribute of a value that sort and others compare by.
struct KeyRule {
  Val attribute;
  bool is_case_sensitive = false;
  Val otherwise;
};
Result<Val> key_of(Runtime& rt, const Val& item, const KeyRule& rule) {
  VITRO_TRY_ASSIGN(Val key, get_path(rt, item, rule.attribute, rule.otherwise));
  return rule.is_case_sensitive ? Result<Val>(std::move(key)) : ignoring_case(rt, key);
}

Result<Val> with_default(Runtime& rt, const Val& value, Args args) {
  const bool is_replaced = value.is(Kind::kUndefined) || (flag(args[1]) && !is_true(value));
  if (!is_replaced) return value;
  return args[0].is_missing() ? rt.string("") : args[0];
}

Result<Val> length(Runtime&, const Val& value, Args) {
  VITRO_TRY_ASSIGN(const int64_t n, length_of(value));
  return Val::integer(n);
}

Result<Val> first(Runtime& rt, const Val& value, Args) {
  VITRO_TRY_ASSIGN(Walker walker, make_walker(value));
  VITRO_TRY_ASSIGN(const std::optional<Val> item, walker.next(rt));
  return item ? *item : rt.undefined("No first item, sequence was empty.");
}

bool is_reversible(const Val& value) {
  switch (value.kind()) {
    case Kind::kString:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kRange:
    case Kind::kView:
      return true;
    default:
      return false;
  }
}

Result<Val> last(Runtime& rt, const Val& value, Args) {
  if (value.is(Kind::kUndefined)) return rt.undefined("No last item, sequence was empty.");
  if (!is_reversible(value)) return raise("'{}' object is not reversible", type_name(value));
  if (value.is_sequence() || value.is_string()) {
    if (*length_of(value) == 0) return rt.undefined("No last item, sequence was empty.");
    return get_item(rt, value, Val::integer(-1));
  }
  VITRO_TRY_ASSIGN(const std::vector<Val> items, values_of(rt, value));
  return items.empty() ? rt.undefined("No last item, sequence was empty.") : items.back();
}

Result<Val> list(Runtime& rt, const Val& value, Args) {
  VITRO_TRY_ASSIGN(std::vector<Val> items, values_of(rt, value));
  return rt.list(std::move(items));
}

Result<Val> items(Runtime& rt, const Val& value, Args) {
  if (value.is(Kind::kUndefined)) return rt.iterator({});
  if (!value.is(Kind::kDict)) return rt.iterator({}, "generator", "Can only get item pairs from a mapping.");
  VITRO_TRY_ASSIGN(std::vector<Val> pairs,
                   values_of(rt, rt.make<ViewObject>(Kind::kView, value, ViewObject::What::kItems)));
  return rt.iterator(std::move(pairs));
}

Result<Val> join(Runtime& rt, const Val& value, Args args) {
  VITRO_TRY_ASSIGN(Walker walker, make_walker(value));
  MarkedText separator;
  if (!args[0].is_missing()) {
    VITRO_TRY_ASSIGN(separator, text_of(rt, args[0]));
  }
  TextBuilder out(rt);
  for (bool is_first = true;; is_first = false) {
    VITRO_TRY_ASSIGN(const std::optional<Val> item, walker.next(rt));
    if (!item) return out.finish();
    VITRO_TRY(rt.budget.check());
    if (!is_first) out.append(separator);
    VITRO_TRY_ASSIGN(const Val part, get_path(rt, *item, args[1]));
    VITRO_TRY(print_value(rt, out, part));
  }
}

Result<Val> reverse(Runtime& rt, const Val& value, Args) {
  if (value.is_string()) return get_slice(rt, value, {Val(), Val(), Val::integer(-1)});
  if (!make_walker(value)) return raise("argument must be iterable");
  VITRO_TRY_ASSIGN(std::vector<Val> items, values_of(rt, value));
  std::reverse(items.begin(), items.end());
  switch (value.kind()) {
    case Kind::kList:
      return rt.iterator(std::move(items), "list_reverseiterator");
    case Kind::kTuple:
      return rt.iterator(std::move(items), "reversed");
    case Kind::kDict:
      return rt.iterator(std::move(items), "dict_reversekeyiterator");
    case Kind::kRange:
      return rt.iterator(std::move(items), "range_iterator");
    case Kind::kView:
      return rt.iterator(std::move(items), "dict_reverseitemiterator");
    default:
      return rt.list(std::move(items));
  }
}

Result<Val> sort(Runtime& rt, const Val& value, Args args) {
  VITRO_TRY_ASSIGN(std::vector<Val> values, values_of(rt, value));
  std::vector<KeyRule> rules;
  if (args[2].is_string()) {
    const StringObject& text = args[2].as_string();
    for (const ByteRange& part : split_at(text.text(), ",", -1, false)) {
      rules.push_back({rt.string(text.marked.slice(part.begin, part.end)), flag(args[1]), {}});
    }
  } else {
    rules.push_back({args[2], flag(args[1]), {}});
  }
  const auto keys = [&](const Val& item) -> Result<Val> {
    std::vector<Val> out;
    for (const KeyRule& rule : rules) {
      VITRO_TRY_ASSIGN(Val key, key_of(rt, item, rule));
      out.push_back(std::move(key));
    }
    return rt.list(std::move(out));
  };
  VITRO_TRY(sort_values(rt, values, keys, flag(args[0])));
  return rt.list(std::move(values));
}

Result<Val> dictsort(Runtime& rt, const Val& value, Args args) {
  std::string by = "key";
  if (args[1].is_string()) by = args[1].as_string().text();
  const bool is_bad = (!args[1].is_missing() && !args[1].is_string()) || (by != "key" && by != "value");
  if (is_bad) return raise("You can only sort by either \"key\" or \"value\"");
  if (value.is(Kind::kUndefined)) return raise_undefined(value);
  if (!value.is(Kind::kDict)) return raise("'{}' object has no attribute 'items'", type_name(value));
  VITRO_TRY_ASSIGN(std::vector<Val> pairs,
                   values_of(rt, rt.make<ViewObject>(Kind::kView, value, ViewObject::What::kItems)));
  const KeyRule rule{Val::integer(by == "key" ? 0 : 1), flag(args[0]), {}};
  VITRO_TRY(sort_values(
      rt, pairs, [&](const Val& pair) { return key_of(rt, pair, rule); }, flag(args[2])));
  return rt.list(std::move(pairs));
}

/// The least value, or the greatest: the first of several equal ones.
Result<Val> extreme(Runtime& rt, const Val& value, Args args, bool is_max) {
  VITRO_TRY_ASSIGN(const std::vector<Val> values, values_of(rt, value));
  if (values.empty()) return rt.undefined("No aggregated item, sequence was empty.");
  const KeyRule rule{args[1], flag(args[0]), {}};
  size_t best = 0;
  VITRO_TRY_ASSIGN(Val best_key, key_of(rt, values[0], rule));
  for (size_t i = 1; i < values.size(); ++i) {
    VITRO_TRY(rt.budget.check());
    VITRO_TRY_ASSIGN(Val key, key_of(rt, values[i], rule));
    VITRO_TRY_ASSIGN(const bool is_better, is_max ? less(rt, best_key, key, ">") : less(rt, key, best_key));
    if (!is_better) continue;
    best = i;
    best_key = std::move(key);
  }
  return values[best];
}
Result<Val> min(Runtime& rt, const Val& value, Args args) { return extreme(rt, value, args, false); }
Result<Val> max(Runtime& rt, const Val& value, Args args) { return extreme(rt, value, args, true); }

Result<Val> sum(Runtime& rt, const Val& value, Args args) {
  VITRO_TRY_ASSIGN(Walker walker, make_walker(value));
  Val total = args[1].is_missing() ? Val::integer(0) : args[1];
  if (total.is_string()) return raise("sum() can't sum strings [use ''.join(seq) instead]");
  for (;;) {
    VITRO_TRY_ASSIGN(const std::optional<Val> item, walker.next(rt));
    if (!item) return total;
    VITRO_TRY(rt.budget.check());
    VITRO_TRY_ASSIGN(const Val part, get_path(rt, *item, args[0]));
    VITRO_TRY_ASSIGN(total, binary(rt, BinaryOp::kAdd, total, part));
  }
}

Result<Val> unique(Runtime& rt, const Val& value, Args args) {
  VITRO_TRY_ASSIGN(const std::vector<Val> values, values_of(rt, value));
  const KeyRule rule{args[1], flag(args[0]), {}};
  DictBuilder seen(rt);
  const Val seen_value = seen.finish_later();
  std::vector<Val> out;
  for (const Val& item : values) {
    Result<Val> key = key_of(rt, item, rule);
    Status status;
    if (key && find_member(rt, seen_value.as_dict(), *key) != nullptr) continue;
    if (key) status = seen.set(*key, Val::none());
    if (!key || !status) return rt.iterator(std::move(out), "generator", (key ? status.error() : key.error()).message);
    VITRO_TRY(rt.budget.check());
    out.push_back(item);
  }
  return rt.iterator(std::move(out));
}

Result<Val> batch(Runtime& rt, const Val& value, Args args) {
  VITRO_TRY_ASSIGN(const std::vector<Val> values, values_of(rt, value));
  VITRO_TRY_ASSIGN(const int64_t n, int_argument(args[0]));
  std::vector<Val> out;
  std::vector<Val> row;
  for (const Val& item : values) {
    if (static_cast<int64_t>(row.size()) == n) {
      VITRO_TRY_ASSIGN(Val full, rt.list(std::exchange(row, {})));
      out.push_back(std::move(full));
    }
    row.push_back(item);
  }
  if (row.empty()) return rt.iterator(std::move(out));
  const bool is_filled = !args[1].is_missing() && !args[1].is_none() && static_cast<int64_t>(row.size()) < n;
  if (is_filled) {
    VITRO_TRY(rt.budget.check_room(static_cast<size_t>(std::min<int64_t>(n, INT32_MAX)) * sizeof(Val)));
    row.resize(static_cast<size_t>(n), args[1]);
  }
  VITRO_TRY_ASSIGN(Val tail, rt.list(std::move(row)));
  out.push_back(std::move(tail));
  return rt.iterator(std::move(out));
}

Result<Val> slice(Runtime& rt, const Val& value, Args args) {
  VITRO_TRY_ASSIGN(const std::vector<Val> values, values_of(rt, value));
  VITRO_TRY_ASSIGN(const int64_t n_slices, int_argument(args[0]));
  if (n_slices == 0) return rt.iterator({}, "generator", "integer division or modulo by zero");
  if (n_slices < 0) return rt.iterator({});
  VITRO_TRY(rt.budget.check_room(static_cast<size_t>(std::min<int64_t>(n_slices, INT32_MAX)) * sizeof(ListObject)));
  const auto n = static_cast<int64_t>(values.size());
  const int64_t n_each = n / n_slices;
  const int64_t n_longer = n % n_slices;
  std::vector<Val> out;
  size_t begin = 0;
  for (int64_t i = 0; i < n_slices; ++i) {
    const auto end = begin + static_cast<size_t>(n_each + (i < n_longer ? 1 : 0));
    std::vector<Val> part(values.begin() + static_cast<ptrdiff_t>(begin), values.begin() + static_cast<ptrdiff_t>(end));
    if (!args[1].is_missing() && !args[1].is_none() && i >= n_longer) part.push_back(args[1]);
    VITRO_TRY_ASSIGN(Val list, rt.list(std::move(part)));
    out.push_back(std::move(list));
    begin = end;
  }
  return rt.iterator(std::move(out));
}

Result<Val> groupby(Runtime& rt, const Val& value, Args args) {
  VITRO_TRY_ASSIGN(std::vector<Val> values, values_of(rt, value));
  const KeyRule rule{args[0], flag(args[2]), args[1]};
  VITRO_TRY(sort_values(
      rt, values, [&](const Val& item) { return key_of(rt, item, rule); }, false));
  std::vector<Val> out;
  for (size_t begin = 0; begin < values.size();) {
    VITRO_TRY_ASSIGN(const Val key, key_of(rt, values[begin], rule));
    size_t end = begin + 1;
    for (; end < values.size(); ++end) {
      VITRO_TRY_ASSIGN(const Val other, key_of(rt, values[end], rule));
      if (!equals(rt, key, other)) break;
    }
    VITRO_TRY_ASSIGN(const Val name, get_path(rt, values[begin], args[0], args[1]));
    VITRO_TRY_ASSIGN(const Val members, rt.list({values.begin() + static_cast<ptrdiff_t>(begin),
                                                 values.begin() + static_cast<ptrdiff_t>(end)}));
    VITRO_TRY_ASSIGN(const Val group, rt.tuple({rule.is_case_sensitive ? key : name, members}));
    group.as<ListObject>().is_group = true;
    out.push_back(group);
    begin = end;
  }
  return rt.list(std::move(out));
}

Result<Val> attr(Runtime& rt, const Val& value, Args args) {
  VITRO_TRY_ASSIGN(const StringObject* name, string_argument(args[0]));
  VITRO_TRY_ASSIGN(Val found, own_attribute(rt, value, name->text()));
  return found.is_missing() ? rt.undefined_member(value, args[0]) : found;
}

/// A generator of the reference: what goes wrong is raised when its values are asked for.
template <Result<Val> (*run)(Runtime&, const Val&, Args)>
Result<Val> deferred(Runtime& rt, const Val& value, Args args) {
  Result<Val> out = run(rt, value, args);
  VITRO_TRY(rt.budget.check());
  if (out || out.error().code != ErrorCode::kInvalidArgument) return out;
  return rt.iterator({}, "generator", out.error().message);
}

constexpr FilterEntry kFilters[] = {{"default", "default_value? boolean?", with_default, nullptr, true},
                                    {"d", "default_value? boolean?", with_default, nullptr, true},
                                    {"length", "/", length, nullptr, true},
                                    {"count", "/", length, nullptr, true},
                                    {"first", "", first, nullptr, true},
                                    {"last", "", last, nullptr, true},
                                    {"list", "", list},
                                    {"items", "", items},
                                    {"join", "d? attribute?", join},
                                    {"reverse", "", reverse},
                                    {"sort", "reverse? case_sensitive? attribute?", sort},
                                    {"dictsort", "case_sensitive? by? reverse?", dictsort},
                                    {"min", "case_sensitive? attribute?", min},
                                    {"max", "case_sensitive? attribute?", max},
                                    {"sum", "attribute? start?", sum},
                                    {"unique", "case_sensitive? attribute?", deferred<unique>},
                                    {"batch", "linecount fill_with?", deferred<batch>},
                                    {"slice", "slices fill_with?", deferred<slice>},
                                    {"groupby", "attribute default? case_sensitive?", groupby},
                                    {"attr", "name", attr}};

}  // namespace

std::span<const FilterEntry> sequence_filters() { return kFilters; }

}  // namespace vitro::jinja
