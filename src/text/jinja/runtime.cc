#include "text/jinja/runtime.h"

#include <algorithm>

#include "text/jinja/operators.h"
#include "text/jinja/print.h"

namespace vitro::jinja {
namespace {

constexpr size_t kIndexAbove = 8;  ///< members from which a dict is searched by hash

void empty_namespace(Object& object) { static_cast<NamespaceObject&>(object).members.clear(); }

const DictObject::Member* find_hashed(Runtime& rt, const DictObject& dict, const Val& key, uint64_t hash) {
  if (dict.index.empty()) {
    for (const DictObject::Member& member : dict.members) {
      if (equals(rt, member.first, key)) return &member;
    }
    return nullptr;
  }
  const auto [first, last] = dict.index.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (equals(rt, dict.members[it->second].first, key)) return &dict.members[it->second];
  }
  return nullptr;
}

}  // namespace

Runtime::~Runtime() {
  for (const Kept& kept : kept_) kept.empty(*kept.object);
}

Val Runtime::string(MarkedText text, bool is_markup) {
  return make<StringObject>(Kind::kString, std::move(text), is_markup);
}

Result<Val> Runtime::sequence(Kind kind, std::vector<Val> values) {
  int depth = 0;
  for (const Val& value : values) depth = std::max(depth, depth_of(value));
  budget.step(values.size() / 8);
  if (depth >= max_depth) return raise("values are nested more than {} levels deep", max_depth);
  VITRO_TRY(budget.check_room(0));
  return make<ListObject>(kind, std::move(values), depth + 1);
}

Val Runtime::iterator(std::vector<Val> values, std::string_view type_name, std::string error) {
  Val out = make<IteratorObject>(Kind::kIterator, std::move(values), type_name);
  IteratorObject& iterator = out.as<IteratorObject>();
  iterator.error = std::move(error);
  for (const Val& item : iterator.values) iterator.depth = std::max(iterator.depth, depth_of(item) + 1);
  return out;
}

Val Runtime::undefined(std::string message) { return make<UndefinedObject>(Kind::kUndefined, std::move(message)); }

Val Runtime::undefined_name(std::string_view name) { return undefined(quote_repr(name) + " is undefined"); }

Val Runtime::undefined_member(const Val& object, const Val& name) {
  const std::string type = object_type_repr(object);
  if (!name.is_string()) return undefined(type + " has no element " + repr_text(*this, name, 100));
  return undefined(quote_repr(type) + " has no attribute " + quote_repr(name.as_string().text()));
}

void Runtime::keep(std::shared_ptr<Object> object, void (*empty)(Object&)) {
  kept_.push_back({std::move(object), empty});
}

Val Runtime::make_namespace() {
  auto object = std::make_shared<NamespaceObject>(&budget);
  keep(object, empty_namespace);
  return Val(Kind::kNamespace, std::move(object));
}

Status Runtime::charge_texts(const Val& self, const std::vector<Val>& args) {
  if (self.is_string()) budget.read(self.as_string().marked.size());
  for (const Val& arg : args) {
    if (arg.is_string()) budget.read(arg.as_string().marked.size());
  }
  return budget.check();
}

bool TextBuilder::has_room(size_t n) {
  rt_.budget.copy(n);
  const size_t n_needed = text_.size() + text_.marks.size() * sizeof(ByteRange) + n;
  const size_t n_more = n_needed - std::min(n_needed, n_counted_);
  if (is_full_ || !rt_.budget.has_room(n_more) || rt_.budget.is_spent()) {
    is_full_ = true;
    return false;
  }
  rt_.budget.add(n_more);
  n_counted_ += n_more;
  return true;
}

Result<MarkedText> TextBuilder::take() {
  if (is_full_) {
    VITRO_TRY(rt_.budget.check());
    VITRO_TRY(rt_.budget.check_room(SIZE_MAX));
  }
  rt_.budget.remove(n_counted_);
  n_counted_ = 0;
  return std::move(text_);
}

Result<Val> TextBuilder::finish(bool is_markup) {
  VITRO_TRY_ASSIGN(MarkedText text, take());
  return rt_.string(std::move(text), is_markup);
}

DictBuilder::DictBuilder(Runtime& rt) : rt_(rt), dict_(std::make_shared<DictObject>(&rt.budget, 1)) {}

Status DictBuilder::set(const Val& key, const Val& value) {
  VITRO_TRY_ASSIGN(const uint64_t hash, hash_of(rt_, key));
  VITRO_TRY(rt_.budget.check());
  const int depth = std::max(depth_of(key), depth_of(value)) + 1;
  if (depth > rt_.max_depth) return raise("values are nested more than {} levels deep", rt_.max_depth);
  dict_->depth = std::max(dict_->depth, depth);
  if (const DictObject::Member* member = find_hashed(rt_, *dict_, key, hash)) {
    dict_->members[static_cast<size_t>(member - dict_->members.data())].second = value;
    return {};
  }
  dict_->members.emplace_back(key, value);
  dict_->grow(sizeof(DictObject::Member) + 32);
  const size_t n = dict_->members.size();
  if (n < kIndexAbove) return {};
  for (size_t i = dict_->index.empty() ? 0 : n - 1; i < n; ++i) {
    VITRO_TRY_ASSIGN(const uint64_t member_hash, hash_of(rt_, dict_->members[i].first));
    dict_->index.emplace(member_hash, static_cast<uint32_t>(i));
  }
  return {};
}

const Val* find_member(Runtime& rt, const DictObject& dict, const Val& key) {
  const Result<uint64_t> hash = hash_of(rt, key);
  if (!hash) return nullptr;
  const DictObject::Member* member = find_hashed(rt, dict, key, *hash);
  return member ? &member->second : nullptr;
}

const Val* find_member(const DictObject& dict, std::string_view key) {
  const auto is_it = [&](const DictObject::Member& member) {
    return member.first.is_string() && member.first.as_string().text() == key;
  };
  if (dict.index.empty()) {
    const auto it = std::find_if(dict.members.begin(), dict.members.end(), is_it);
    return it == dict.members.end() ? nullptr : &it->second;
  }
  const auto [first, last] = dict.index.equal_range(hash_of_text(key));
  for (auto it = first; it != last; ++it) {
    if (is_it(dict.members[it->second])) return &dict.members[it->second].second;
  }
  return nullptr;
}

Val* find_attribute(NamespaceObject& ns, std::string_view name) {
  for (DictObject::Member& member : ns.members) {
    if (member.first.is_string() && member.first.as_string().text() == name) return &member.second;
  }
  return nullptr;
}

void set_attribute(NamespaceObject& ns, const Val& name, const Val& value) {
  if (Val* found = name.is_string() ? find_attribute(ns, name.as_string().text()) : nullptr) {
    *found = value;
    return;
  }
  ns.members.emplace_back(name, value);
  ns.grow(sizeof(DictObject::Member));
}

int depth_of(const Val& value) {
  switch (value.kind()) {
    case Kind::kList:
    case Kind::kTuple:
      return value.as<ListObject>().depth;
    case Kind::kDict:
      return value.as<DictObject>().depth;
    case Kind::kView:
      return value.as<ViewObject>().dict.as_dict().depth + 1;
    case Kind::kMethod:
      return depth_of(value.as<MethodObject>().self) + 1;
    case Kind::kIterator:
      return value.as<IteratorObject>().depth;
    case Kind::kCycler:
      return value.as<CyclerObject>().depth;
    case Kind::kJoiner:
      return depth_of(value.as<JoinerObject>().separator) + 1;
    default:
      return 0;
  }
}

}  // namespace vitro::jinja
