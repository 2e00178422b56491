// Values of a template as Python has them. Scalars are held directly; everything else is a shared object. Lists, tuples
// and dicts never change once made (the sandbox of the reference forbids it), so only namespaces, loops and scopes can
// close a cycle; a Runtime knows those and empties them at its end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/jinja/budget.h"
#include "text/jinja/marked_text.h"

namespace vitro::jinja {

enum class Kind : uint8_t {
  kMissing,  ///< no value at all: a variable without one, an argument not given; never seen by a template
  kUndefined,
  kNone,
  kBool,
  kInt,
  kFloat,
  kString,
  kList,
  kTuple,
  kDict,
  kRange,
  kView,      ///< what keys(), values() and items() of a dict give
  kIterator,  ///< what map, select, reverse, ... give: can be walked once
  kNamespace,
  kMacro,
  kLoop,
  kCycler,
  kJoiner,
  kFunction,  ///< a global function
  kMethod     ///< a method together with its object
};

/// Base of everything on the heap; counts its bytes against the rendering's budget while it lives. Objects of a
/// program's constants have no budget.
struct Object {
  Object(Budget* b, size_t n) : budget(b), bytes(n) {
    if (budget != nullptr) budget->add(bytes);
  }
  virtual ~Object() {
    if (budget != nullptr) budget->remove(bytes);
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  /// Counts more bytes after construction.
  void grow(size_t n) {
    bytes += n;
    if (budget != nullptr) budget->add(n);
  }

  Budget* budget;
  size_t bytes;
};

struct StringObject;
struct ListObject;
struct DictObject;

class Val {
 public:
  Val() = default;
  static Val none() { return Val(Kind::kNone); }
  static Val boolean(bool b) { return Val(Kind::kBool, int64_t{b}); }
  static Val integer(int64_t n) { return Val(Kind::kInt, n); }
  static Val real(double x) {
    Val out(Kind::kFloat);
    out.real_ = x;
    return out;
  }
  Val(Kind kind, std::shared_ptr<Object> object) : kind_(kind), object_(std::move(object)) {}

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_missing() const { return kind_ == Kind::kMissing; }
  bool is_none() const { return kind_ == Kind::kNone; }
  bool is_string() const { return kind_ == Kind::kString; }
  /// int or bool: Python's bool is an int.
  bool is_integral() const { return kind_ == Kind::kInt || kind_ == Kind::kBool; }
  bool is_number() const { return is_integral() || kind_ == Kind::kFloat; }
  bool is_sequence() const { return kind_ == Kind::kList || kind_ == Kind::kTuple; }

  /// Callers have looked at the kind.
  int64_t as_int() const { return int_; }
  bool as_bool() const { return int_ != 0; }
  double as_real() const { return kind_ == Kind::kFloat ? real_ : static_cast<double>(int_); }
  const StringObject& as_string() const;
  const std::vector<Val>& items() const;  ///< list or tuple
  const DictObject& as_dict() const;
  template <class T>
  T& as() const {
    return static_cast<T&>(*object_);
  }
  const Object* object() const { return object_.get(); }
  const std::shared_ptr<Object>& shared() const { return object_; }

 private:
  explicit Val(Kind kind) : kind_(kind) {}
  Val(Kind kind, int64_t n) : kind_(kind), int_(n) {}

  Kind kind_ = Kind::kMissing;
  union {
    int64_t int_ = 0;
    double real_;
  };
  std::shared_ptr<Object> object_;
};

/// A text; positions that templates see are code points.
struct StringObject : Object {
  StringObject(Budget* b, MarkedText t, bool is_markup_text);
  const std::string& text() const { return marked.text; }
  /// Byte where code point `index` begins; the size for an index past the end.
  size_t byte_of(size_t index) const;
  bool is_ascii() const { return n_chars == marked.size(); }

  const MarkedText marked;
  size_t n_chars;
  bool is_markup;  ///< made by safe or escape: adding to it escapes the other side
};

/// List or tuple. `depth` counts nesting, so that no walk is deep; `hash` is that of a tuple.
struct ListObject : Object {
  ListObject(Budget* b, std::vector<Val> values, int nesting);
  const std::vector<Val> values;
  int depth;
  bool is_group = false;  ///< made by groupby: has the attributes grouper and list
};

/// Insertion order, unique keys; an index once there are more than a few.
struct DictObject : Object {
  using Member = std::pair<Val, Val>;
  DictObject(Budget* b, int nesting) : Object(b, sizeof(DictObject)), depth(nesting) {}
  std::vector<Member> members;
  std::unordered_multimap<uint64_t, uint32_t> index;
  int depth;
};

struct RangeObject : Object {
  RangeObject(Budget* b, int64_t from, int64_t to, int64_t by, int64_t n)
      : Object(b, sizeof(RangeObject)), start(from), stop(to), step(by), count(n) {}
  const int64_t start, stop, step, count;
};

struct ViewObject : Object {
  enum class What { kKeys, kValues, kItems };
  ViewObject(Budget* b, Val d, What w) : Object(b, sizeof(ViewObject)), dict(std::move(d)), what(w) {}
  const Val dict;
  const What what;
};

/// Values computed beforehand, handed out once. `error`: what is raised after the last of them, if anything.
struct IteratorObject : Object {
  IteratorObject(Budget* b, std::vector<Val> v, std::string_view type);
  std::vector<Val> values;
  size_t next = 0;
  int depth = 1;
  std::string_view type_name;
  std::string error;
};

/// What was looked for and not found; the message is what is raised by most uses.
struct UndefinedObject : Object {
  UndefinedObject(Budget* b, std::string m) : Object(b, sizeof(UndefinedObject) + m.size()), message(std::move(m)) {}
  const std::string message;
};

/// The one object a template can change.
struct NamespaceObject : Object {
  explicit NamespaceObject(Budget* b) : Object(b, sizeof(NamespaceObject)) {}
  std::vector<DictObject::Member> members;
};

struct CyclerObject : Object {
  CyclerObject(Budget* b, std::vector<Val> v) : Object(b, sizeof(CyclerObject)), values(std::move(v)) {}
  const std::vector<Val> values;
  int depth = 1;
  size_t pos = 0;
};

struct JoinerObject : Object {
  JoinerObject(Budget* b, Val s) : Object(b, sizeof(JoinerObject)), separator(std::move(s)) {}
  const Val separator;
  bool is_used = false;
};

struct MethodObject : Object {
  MethodObject(Budget* b, Val s, std::string n)
      : Object(b, sizeof(MethodObject)), self(std::move(s)), name(std::move(n)) {}
  const Val self;
  const std::string name;
};

struct FunctionObject : Object {
  FunctionObject(Budget* b, std::string n) : Object(b, sizeof(FunctionObject)), name(std::move(n)) {}
  const std::string name;
};

/// The name Python gives the type: "str", "NoneType", "dict_items".
std::string_view type_name(const Val& value);

/// "a" or "dict object", as jinja2's messages describe the type.
std::string object_type_repr(const Val& value);

}  // namespace vitro::jinja
