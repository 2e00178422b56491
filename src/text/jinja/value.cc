#include "text/jinja/value.h"

#include <algorithm>

#include "text/utf8.h"

namespace vitro::jinja {
namespace {

size_t count_chars(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

size_t size_of_values(const std::vector<Val>& values) { return values.capacity() * sizeof(Val); }

}  // namespace

StringObject::StringObject(Budget* b, MarkedText t, bool is_markup_text)
    : Object(b, sizeof(StringObject) + t.text.capacity() + t.marks.capacity() * sizeof(ByteRange)),
      marked(std::move(t)),
      n_chars(count_chars(marked.text)),
      is_markup(is_markup_text) {}

size_t StringObject::byte_of(size_t index) const {
  if (index >= n_chars) return marked.size();
  if (is_ascii()) return index;
  size_t pos = 0;
  for (const std::string& t = marked.text; pos < t.size(); ++pos) {
    if ((static_cast<unsigned char>(t[pos]) & 0xC0U) == 0x80U) continue;
    if (index-- == 0) break;
  }
  return pos;
}

ListObject::ListObject(Budget* b, std::vector<Val> v, int nesting)
    : Object(b, sizeof(ListObject) + size_of_values(v)), values(std::move(v)), depth(nesting) {}

IteratorObject::IteratorObject(Budget* b, std::vector<Val> v, std::string_view type)
    : Object(b, sizeof(IteratorObject) + size_of_values(v)), values(std::move(v)), type_name(type) {}

const StringObject& Val::as_string() const { return as<StringObject>(); }
const std::vector<Val>& Val::items() const { return as<ListObject>().values; }
const DictObject& Val::as_dict() const { return as<DictObject>(); }

std::string_view type_name(const Val& value) {
  switch (value.kind()) {
    case Kind::kMissing:
    case Kind::kUndefined:
      return "Undefined";
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kString:
      return value.as_string().is_markup ? "Markup" : "str";
    case Kind::kList:
      return "list";
    case Kind::kTuple:
      return "tuple";
    case Kind::kDict:
      return "dict";
    case Kind::kRange:
      return "range";
    case Kind::kView:
      switch (value.as<ViewObject>().what) {
        case ViewObject::What::kKeys:
          return "dict_keys";
        case ViewObject::What::kValues:
          return "dict_values";
        case ViewObject::What::kItems:
          return "dict_items";
      }
      return "dict_items";
    case Kind::kIterator:
      return value.as<IteratorObject>().type_name;
    case Kind::kNamespace:
      return "Namespace";
    case Kind::kMacro:
      return "Macro";
    case Kind::kLoop:
      return "LoopContext";
    case Kind::kCycler:
      return "Cycler";
    case Kind::kJoiner:
      return "Joiner";
    case Kind::kFunction:
      return "function";
    case Kind::kMethod:
      return "builtin_function_or_method";
  }
  return "object";
}

std::string object_type_repr(const Val& value) {
  if (value.is_none()) return "None";
  const std::string name(type_name(value));
  switch (value.kind()) {
    case Kind::kMacro:
    case Kind::kLoop:
      return "jinja2.runtime." + name + " object";
    case Kind::kNamespace:
    case Kind::kCycler:
    case Kind::kJoiner:
      return "jinja2.utils." + name + " object";
    default:
      return name + " object";
  }
}

}  // namespace vitro::jinja
