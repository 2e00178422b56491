// Filters that apply a filter, a test or an attribute to every item: map, select, reject, selectattr, rejectattr. What
// they give are iterators; an error of an item is raised when the item is reached.
#include "text/jinja/attributes.h"
#include "text/jinja/filters.h"
#include "text/jinja/operators.h"

namespace vitro::jinja {
namespace {

Val take_keyword(Arguments& args, std::string_view name) {
  const auto it =
      std::find_if(args.kwargs.begin(), args.kwargs.end(), [&](const auto& kw) { return kw.first == name; });
  if (it == args.kwargs.end()) return {};
  Val value = std::move(it->second);
  args.kwargs.erase(it);
  return value;
}

using MapItem = std::function<Result<Val>(const Val&)>;

Result<MapItem> mapping_of(Runtime& rt, Arguments args) {
  if (args.args.empty()) {
    const Val attribute = take_keyword(args, "attribute");
    if (attribute.is_missing()) return raise("map requires a filter argument");
    const Val otherwise = take_keyword(args, "default");
    if (!args.kwargs.empty()) return raise("Unexpected keyword argument '{}'", args.kwargs[0].first);
    return MapItem([&rt, attribute, otherwise](const Val& item) { return get_path(rt, item, attribute, otherwise); });
  }
  const Val name = args.args[0];
  args.args.erase(args.args.begin());
  const FilterEntry* filter = name.is_string() ? find_filter(name.as_string().text()) : nullptr;
  if (filter == nullptr)
    return raise("No filter named {}.", name.is_string() ? "'" + name.as_string().text() + "'" : "");
  return MapItem([&rt, filter, args](const Val& item) { return apply_filter(rt, *filter, item, args); });
}

/// Walks the values; what `add` says about each goes into an iterator, its first error behind them.
Result<Val> collect(Runtime& rt, const Val& value, const std::function<Status(const Val&, std::vector<Val>&)>& add) {
  std::vector<Val> out;
  Result<Walker> walker = make_walker(value);
  if (!walker) return rt.iterator({}, "generator", walker.error().message);
  for (;;) {
    Result<std::optional<Val>> item = walker->next(rt);
    VITRO_TRY(rt.budget.check());
    if (!item) return rt.iterator(std::move(out), "generator", item.error().message);
    if (!*item) return rt.iterator(std::move(out));
    const Status status = add(**item, out);
    if (!status && status.error().code != ErrorCode::kInvalidArgument) return tl::unexpected<Error>(status.error());
    if (!status) return rt.iterator(std::move(out), "generator", status.error().message);
    if (out.size() % 256 == 0) VITRO_TRY(rt.budget.check_room(out.size() * sizeof(Val)));
  }
}

Result<Val> map(Runtime& rt, const Val& value, Arguments args) {
  if (!is_true(value)) return rt.iterator({});
  const Result<MapItem> mapping = mapping_of(rt, std::move(args));
  if (!mapping) return rt.iterator({}, "generator", mapping.error().message);
  return collect(rt, value, [&](const Val& item, std::vector<Val>& out) -> Status {
    VITRO_TRY_ASSIGN(Val mapped, (*mapping)(item));
    out.push_back(std::move(mapped));
    return {};
  });
}

struct Selection {
  bool has_attribute = false;
  bool is_rejecting = false;
};

Result<Val> select_by(Runtime& rt, const Val& value, Arguments args, Selection how) {
  if (!is_true(value)) return rt.iterator({});
  Val attribute;
  if (how.has_attribute) {
    if (args.args.empty()) return rt.iterator({}, "generator", "Missing parameter for attribute name");
    attribute = args.args[0];
    args.args.erase(args.args.begin());
  }
  const TestEntry* test = nullptr;
  const bool has_test = !args.args.empty();
  if (has_test) {
    const Val name = args.args[0];
    args.args.erase(args.args.begin());
    test = name.is_string() ? find_test(name.as_string().text()) : nullptr;
    if (test == nullptr) {
      const std::string word = name.is_string() ? "'" + name.as_string().text() + "'" : std::string(type_name(name));
      return rt.iterator({}, "generator", "No test named " + word + ".");
    }
  }
  return collect(rt, value, [&](const Val& item, std::vector<Val>& out) -> Status {
    Val subject = item;
    if (how.has_attribute) {
      VITRO_TRY_ASSIGN(subject, get_path(rt, item, attribute));
    }
    bool holds = is_true(subject);
    if (has_test) {
      VITRO_TRY_ASSIGN(holds, apply_test(rt, *test, subject, args));
    }
    if (holds != how.is_rejecting) out.push_back(item);
    return {};
  });
}

Result<Val> select(Runtime& rt, const Val& value, Arguments args) { return select_by(rt, value, std::move(args), {}); }
Result<Val> reject(Runtime& rt, const Val& value, Arguments args) {
  return select_by(rt, value, std::move(args), {.is_rejecting = true});
}
Result<Val> select_attr(Runtime& rt, const Val& value, Arguments args) {
  return select_by(rt, value, std::move(args), {.has_attribute = true});
}
Result<Val> reject_attr(Runtime& rt, const Val& value, Arguments args) {
  return select_by(rt, value, std::move(args), {.has_attribute = true, .is_rejecting = true});
}

constexpr FilterEntry kFilters[] = {{"map", "", nullptr, map},
                                    {"select", "", nullptr, select},
                                    {"reject", "", nullptr, reject},
                                    {"selectattr", "", nullptr, select_attr},
                                    {"rejectattr", "", nullptr, reject_attr}};

}  // namespace

std::span<const FilterEntry> select_filters() { return kFilters; }

}  // namespace vitro::jinja
