#include "text/jinja/attributes.h"

#include <algorithm>

#include "text/jinja/escape.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/py_chars.h"

namespace vitro::jinja {
namespace {

using Names = std::initializer_list<std::string_view>;

bool is_among(std::string_view name, Names names) { return std::find(names.begin(), names.end(), name) != names.end(); }

/// Methods that exist but that no template may use; and names of Python that are not ours to imitate.
bool is_unsafe(const Val& object, std::string_view name) {
  if (object.is(Kind::kDict)) return is_among(name, {"clear", "pop", "popitem", "setdefault", "update"});
  if (!object.is(Kind::kList)) return false;
  return is_among(name, {"append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"});
}

bool is_internal(std::string_view name) {
  return name.size() > 4 && name.starts_with("__") && name.ends_with("__") &&
         is_among(name, {"__class__",   "__doc__",       "__init__",        "__new__",          "__repr__",
                         "__str__",     "__hash__",      "__eq__",          "__ne__",           "__lt__",
                         "__le__",      "__gt__",        "__ge__",          "__dir__",          "__format__",
                         "__reduce__",  "__reduce_ex__", "__sizeof__",      "__subclasshook__", "__init_subclass__",
                         "__setattr__", "__delattr__",   "__getattribute__"});
}

const MethodEntry* find_in(std::span<const MethodEntry> methods, std::string_view name) {
  const auto it = std::find_if(methods.begin(), methods.end(), [&](const MethodEntry& m) { return m.name == name; });
  return it == methods.end() ? nullptr : &*it;
}

const MethodEntry* find_method(Kind kind, std::string_view name) {
  if (kind != Kind::kString) return find_in(container_methods(kind), name);
  const MethodEntry* found = find_in(string_methods(), name);
  return found ? found : find_in(string_search_methods(), name);
}

/// Plain values as attributes: what has no method table.
Val data_attribute(const Val& object, std::string_view name) {
  switch (object.kind()) {
    case Kind::kTuple:
      if (!object.as<ListObject>().is_group) return {};
      if (name == "grouper") return object.items()[0];
      return name == "list" ? object.items()[1] : Val();
    case Kind::kRange: {
      const RangeObject& range = object.as<RangeObject>();
      if (name == "start") return Val::integer(range.start);
      if (name == "stop") return Val::integer(range.stop);
      return name == "step" ? Val::integer(range.step) : Val();
    }
    case Kind::kCycler: {
      const CyclerObject& cycler = object.as<CyclerObject>();
      if (name == "current") return cycler.values[cycler.pos];
      return name == "pos" ? Val::integer(static_cast<int64_t>(cycler.pos)) : Val();
    }
    case Kind::kJoiner:
      if (name == "sep") return object.as<JoinerObject>().separator;
      return name == "used" ? Val::boolean(object.as<JoinerObject>().is_used) : Val();
    case Kind::kBool:
    case Kind::kInt:
      if (is_among(name, {"real", "numerator"})) return Val::integer(object.as_int());
      if (name == "imag") return Val::integer(0);
      return name == "denominator" ? Val::integer(1) : Val();
    case Kind::kFloat:
      if (name == "real") return object;
      return name == "imag" ? Val::real(0) : Val();
    default:
      return {};
  }
}

/// The item of a key, or missing.
Result<Val> item_of(Runtime& rt, const Val& object, const Val& key) {
  if (object.is(Kind::kDict)) {
    const Val* found = find_member(rt, object.as_dict(), key);
    return found ? *found : Val();
  }
  if (!key.is_integral()) return Val();
  const bool has_items = object.is_sequence() || object.is_string() || object.is(Kind::kRange);
  if (!has_items) return Val();
  const int64_t n = *length_of(object);
  const int64_t index = key.as_int() < 0 ? key.as_int() + n : key.as_int();
  if (index < 0 || index >= n) return Val();
  if (object.is_sequence()) return object.items()[static_cast<size_t>(index)];
  if (object.is(Kind::kRange)) {
    const RangeObject& range = object.as<RangeObject>();
    return Val::integer(range.start + index * range.step);
  }
  const StringObject& string = object.as_string();
  if (!string.is_ascii()) rt.budget.read(string.marked.size());
  const size_t begin = string.byte_of(static_cast<size_t>(index));
  const auto n_bytes = static_cast<size_t>(decode_utf8(std::string_view(string.text()).substr(begin)).n_bytes);
  return rt.string(string.marked.slice(begin, begin + n_bytes), string.is_markup);
}

Val unsafe_attribute(Runtime& rt, const Val& object, std::string_view name) {
  return rt.undefined(fmt::format("access to attribute '{}' of '{}' object is unsafe.", name, type_name(object)));
}

/// Texts that are safe, as markupsafe.Markup gives back whatever its methods make: the text, or those of a list.
Result<Val> as_markup(Runtime& rt, const Val& value) {
  if (value.is_string()) return rt.string(value.as_string().marked, true);
  if (!value.is_sequence()) return value;
  std::vector<Val> parts;
  for (const Val& part : value.items()) parts.push_back(rt.string(part.as_string().marked, true));
  return value.is(Kind::kList) ? rt.list(std::move(parts)) : rt.tuple(std::move(parts));
}

Result<Val> escaped(Runtime& rt, const Val& value) {
  if (is_markup(value)) return value;
  VITRO_TRY_ASSIGN(const MarkedText text, text_of(rt, value));
  TextBuilder out(rt);
  append_escaped(out, text);
  return out.finish(true);
}

/// Methods of Markup that put other texts in escape those first.
Status escape_arguments(Runtime& rt, std::string_view method, std::vector<Val>& args) {
  if (method == "join") {
    VITRO_TRY_ASSIGN(std::vector<Val> items, values_of(rt, args[0]));
    for (Val& item : items) {
      VITRO_TRY_ASSIGN(item, escaped(rt, item));
    }
    VITRO_TRY_ASSIGN(args[0], rt.list(std::move(items)));
    return {};
  }
  if (!is_among(method, {"replace", "ljust", "rjust", "center"}) || args[1].is_missing()) return {};
  VITRO_TRY_ASSIGN(args[1], escaped(rt, args[1]));
  return {};
}

}  // namespace

Result<Val> own_attribute(Runtime& rt, const Val& object, std::string_view name) {
  if (object.is(Kind::kUndefined)) return raise_undefined(object);
  if (object.is(Kind::kNamespace)) {
    if (name == "__class__") return unsafe_attribute(rt, object, name);
    const Val* found = find_attribute(object.as<NamespaceObject>(), name);
    if (found == nullptr) return Val();
    return name.starts_with('_') ? unsafe_attribute(rt, object, name) : *found;
  }
  if (is_internal(name) || is_unsafe(object, name)) return unsafe_attribute(rt, object, name);
  if (object.is(Kind::kLoop)) {
    if (!rt.loop_attribute) return Val();
    return rt.loop_attribute(object, name);
  }
  if (find_method(object.kind(), name) != nullptr) {
    return rt.make<MethodObject>(Kind::kMethod, object, std::string(name));
  }
  if (object.is(Kind::kMacro) && is_among(name, {"name", "arguments", "catch_kwargs", "catch_varargs", "caller"})) {
    return fail(ErrorCode::kUnsupported, "attributes of macros are not supported");
  }
  return data_attribute(object, name);
}

Result<Val> get_attribute(Runtime& rt, const Val& object, const Val& name) {
  VITRO_TRY_ASSIGN(Val value, own_attribute(rt, object, name.as_string().text()));
  if (!value.is_missing()) return value;
  VITRO_TRY_ASSIGN(value, item_of(rt, object, name));
  return value.is_missing() ? rt.undefined_member(object, name) : value;
}

Result<Val> get_item(Runtime& rt, const Val& object, const Val& key) {
  if (object.is(Kind::kUndefined)) return raise_undefined(object);
  VITRO_TRY_ASSIGN(Val value, item_of(rt, object, key));
  if (!value.is_missing()) return value;
  if (key.is_string()) {
    VITRO_TRY_ASSIGN(value, own_attribute(rt, object, key.as_string().text()));
  }
  return value.is_missing() ? rt.undefined_member(object, key) : value;
}

Result<Val> get_path(Runtime& rt, const Val& object, const Val& path, const Val& otherwise) {
  if (path.is_missing() || path.is_none()) return object;
  std::vector<Val> parts;
  if (path.is_string()) {
    std::string_view rest = path.as_string().text();
    for (;;) {
      const size_t dot = std::min(rest.find('.'), rest.size());
      const std::string_view part = rest.substr(0, dot);
      const bool is_number = !part.empty() && part.size() < 18 &&
                             std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
      parts.push_back(is_number ? Val::integer(std::stoll(std::string(part))) : rt.string(part));
      if (dot == rest.size()) break;
      rest.remove_prefix(dot + 1);
    }
  } else {
    parts.push_back(path);
  }
  Val value = object;
  for (const Val& part : parts) {
    VITRO_TRY_ASSIGN(value, get_item(rt, value, part));
    if (!otherwise.is_missing() && !otherwise.is_none() && value.is(Kind::kUndefined)) value = otherwise;
  }
  return value;
}

Result<Val> call_method(Runtime& rt, const MethodObject& method, Arguments args) {
  const MethodEntry* entry = find_method(method.self.kind(), method.name);
  if (entry == nullptr) return raise("'{}' object has no method '{}'", type_name(method.self), method.name);
  if (!entry->is_brief) VITRO_TRY(rt.charge_texts(method.self, args.args));
  if (method.self.is_string() && (method.name == "format" || method.name == "format_map")) {
    DictBuilder named(rt);
    for (const auto& [name, value] : args.kwargs) VITRO_TRY(named.set(rt.string(name), value));
    if (method.name == "format") return format_braces(rt, method.self.as_string(), args.args, named.finish());
    if (args.args.size() != 1 || !args.kwargs.empty()) return raise("format_map() takes exactly one argument");
    return format_braces(rt, method.self.as_string(), {}, args.args[0]);
  }
  VITRO_TRY_ASSIGN(std::vector<Val> bound, bind_arguments(method.name, entry->parameters, std::move(args)));
  const bool is_safe = is_markup(method.self);
  if (is_safe) VITRO_TRY(escape_arguments(rt, method.name, bound));
  VITRO_TRY_ASSIGN(Val out, entry->run(rt, method.self, bound));
  return is_safe ? as_markup(rt, out) : out;
}

}  // namespace vitro::jinja
