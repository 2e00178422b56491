// Runtime: what one rendering has besides its variables: the budget, the clock, and the making of values.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/jinja/value.h"

namespace vitro::jinja {

struct RuntimeLimits {
  size_t max_steps = 0;
  size_t max_bytes = 0;
  int max_depth = 0;
};

class Runtime {
 public:
  Runtime(const RuntimeLimits& limits, std::string now)
      : budget(limits.max_steps, limits.max_bytes), max_depth(limits.max_depth), now_(std::move(now)) {}
  /// Empties namespaces and scopes first, which breaks every cycle.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  Val string(MarkedText text, bool is_markup = false);
  Val string(std::string_view text) { return string(MarkedText::plain(std::string(text))); }
  Result<Val> list(std::vector<Val> values) { return sequence(Kind::kList, std::move(values)); }
  Result<Val> tuple(std::vector<Val> values) { return sequence(Kind::kTuple, std::move(values)); }
  Val iterator(std::vector<Val> values, std::string_view type_name = "generator", std::string error = "");
  Val undefined(std::string message);
  Val undefined_name(std::string_view name);
  /// obj.name or obj[name] that is not there.
  Val undefined_member(const Val& object, const Val& name);
  template <class T, class... Args>
  Val make(Kind kind, Args&&... args) {
    return Val(kind, std::make_shared<T>(&budget, std::forward<Args>(args)...));
  }
  /// Pays for reading texts from end to end, and asks whether the budget holds.
  Status charge_texts(const Val& self, const std::vector<Val>& args);
  /// Keeps an object that may close a cycle until the end, when `empty` is called on it.
  void keep(std::shared_ptr<Object> object, void (*empty)(Object&));
  Val make_namespace();

  /// The attribute of a loop, or missing; a loop may have to look ahead, which only the interpreter can do.
  std::function<Result<Val>(const Val& loop, std::string_view name)> loop_attribute;

  /// Local time of strftime_now: the given one, else the machine's.
  const std::string& now() const { return now_; }

  Budget budget;
  const int max_depth;
  int n_namespaces_printed = 0;  ///< inside each other right now

 private:
  struct Kept {
    std::shared_ptr<Object> object;
    void (*empty)(Object&);
  };
  Result<Val> sequence(Kind kind, std::vector<Val> values);

  std::string now_;
  std::vector<Kept> kept_;
};

/// Collects a text piece by piece; stops growing when the budget is spent, and finish() then says so.
class TextBuilder {
 public:
  explicit TextBuilder(Runtime& rt) : rt_(rt) {}
  ~TextBuilder() { rt_.budget.remove(n_counted_); }
  TextBuilder(const TextBuilder&) = delete;
  TextBuilder& operator=(const TextBuilder&) = delete;
  void append(std::string_view piece, bool is_marked = false) {
    if (has_room(piece.size())) text_.append(piece, is_marked);
  }
  void append(const MarkedText& piece) { append(piece, {0, piece.size()}); }
  void append(const MarkedText& source, ByteRange part) {
    if (has_room(part.size())) text_.append(source, part);
  }
  size_t size() const { return text_.size(); }
  const MarkedText& text() const { return text_; }
  Result<MarkedText> take();
  Result<Val> finish(bool is_markup = false);

 private:
  bool has_room(size_t n);
  Runtime& rt_;
  MarkedText text_;
  size_t n_counted_ = 0;
  bool is_full_ = false;
};

/// Collects members of a dict in order; a key given twice keeps its place and takes the new value.
class DictBuilder {
 public:
  explicit DictBuilder(Runtime& rt);
  /// InvalidArgument for keys that cannot be hashed, and for nesting that is too deep.
  Status set(const Val& key, const Val& value);
  Val finish() { return Val(Kind::kDict, std::move(dict_)); }
  /// The dict while it is still being filled.
  Val finish_later() const { return Val(Kind::kDict, dict_); }

 private:
  Runtime& rt_;
  std::shared_ptr<DictObject> dict_;
};

/// The value of a key, or null. Keys that cannot be hashed are in no dict.
const Val* find_member(Runtime& rt, const DictObject& dict, const Val& key);
const Val* find_member(const DictObject& dict, std::string_view key);
/// Place of an attribute of a namespace, or null.
Val* find_attribute(NamespaceObject& ns, std::string_view name);
void set_attribute(NamespaceObject& ns, const Val& name, const Val& value);

/// Nesting of a value: 0 for scalars.
int depth_of(const Val& value);

/// A failure a template sees as an exception: InvalidArgument with the message.
template <class... Args>
[[nodiscard]] tl::unexpected<Error> raise(fmt::format_string<Args...> format, Args&&... args) {
  return fail(ErrorCode::kInvalidArgument, format, std::forward<Args>(args)...);
}

}  // namespace vitro::jinja
