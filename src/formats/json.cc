#include "formats/json.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "formats/quick_real.h"
#include "formats/quote_name.h"

namespace vitro {
namespace {

/// Feeds the parser and remembers how far it has come, which its callbacks do not tell.
class TrackingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TrackingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  TrackingIterator& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  friend bool operator==(const TrackingIterator& a, const TrackingIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

/// A key that an object has twice, or null.
const std::string* find_twin(const Value::Object& members) {
  std::vector<const std::string*> keys;
  keys.reserve(members.size());
  for (const Value::Member& member : members) keys.push_back(&member.first);
  std::sort(keys.begin(), keys.end(), [](const auto* a, const auto* b) { return *a < *b; });
  const auto twin = std::adjacent_find(keys.begin(), keys.end(), [](const auto* a, const auto* b) { return *a == *b; });
  return twin == keys.end() ? nullptr : *twin;
}

/// nlohmann's words without its "[json.exception...] parse error at line 1, column 2: " and without unbounded echoes of
/// the text.
std::string plain_reason(std::string_view what) {
  constexpr size_t kMaxBytes = 200;
  if (const size_t end = what.find("] "); end != std::string_view::npos) what.remove_prefix(end + 2);
  if (what.substr(0, 11) == "parse error") what.remove_prefix(std::min(what.find(": ") + 2, what.size()));
  std::string reason;
  for (const char c : what.substr(0, kMaxBytes)) reason += c >= 0x20 && c < 0x7f ? c : '?';
  return reason + (what.size() > kMaxBytes ? "..." : "");
}

/// The SAX events of one document, made into a tree. Returning false stops the parser; `problem` then says why.
class TreeBuilder {
 public:
  TreeBuilder(const JsonLimits& limits, std::span<const JsonDiversion> diversions)
      : limits_(limits), diversions_(diversions) {}

  bool null() { return listener_ != nullptr ? count() && told(listener_->other()) : add(Value()); }
  bool boolean(bool b) { return listener_ != nullptr ? count() && told(listener_->other()) : add(Value(b)); }
  bool number_integer(int64_t n) {
    return listener_ != nullptr ? count() && told(listener_->integer(n)) : add(Value(n));
  }
  bool number_unsigned(uint64_t n) {
    return n <= INT64_MAX ? number_integer(static_cast<int64_t>(n)) : number_float(static_cast<double>(n), {});
  }
  bool number_float(double x, const std::string& text) {
    if (listener_ != nullptr) return count() && told(listener_->other());
    if (limits_.reals == RealReading::kNearest || text.empty()) return add(Value(x));
    const double quick = quick_real(text);
    return std::isfinite(quick) ? add(Value(quick)) : stop("number out of range");
  }
  bool string(const std::string& text) {
    return listener_ != nullptr ? count() && told(listener_->string(text)) : add(Value(text));
  }
  bool binary(const std::vector<uint8_t>&) { return stop("binary value"); }  // no such thing in JSON text

  bool start_object(size_t) { return open(true); }
  bool start_array(size_t) { return open(false); }
  bool key(const std::string& name) {
    if (listener_ != nullptr) return told(listener_->key(name));
    stack_.back().members.emplace_back(name, Value());
    return true;
  }
  bool end_object() {
    if (listener_ != nullptr) return close_diverted(Value(Value::Object()));
    Value::Object members = std::move(stack_.back().members);
    stack_.pop_back();
    if (const std::string* twin = find_twin(members))
      return stop("the object has the key " + quote_name(*twin) + " twice");
    return place(Value(std::move(members)));
  }
  bool end_array() {
    if (listener_ != nullptr) return close_diverted(Value(Value::Array()));
    Value::Array items = std::move(stack_.back().items);
    stack_.pop_back();
    return place(Value(std::move(items)));
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) {
    return stop(plain_reason(error.what()));
  }

  Value& root() { return root_; }
  const std::string& problem() const { return problem_; }

 private:
  /// An array or object that is still open.
  struct Frame {
    bool is_object;
    Value::Object members;
    Value::Array items;
  };

  bool stop(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  bool count() {
    if (++n_values_ <= limits_.max_values) return true;
    return stop(fmt::format("more than {} values", limits_.max_values));
  }
  bool add(Value value) { return count() && place(std::move(value)); }
  bool open(bool is_object) {
    if (stack_.size() + n_diverted_ >= static_cast<size_t>(limits_.max_depth)) {
      return stop(fmt::format("nested deeper than {}", limits_.max_depth));
    }
    if (listener_ == nullptr) listener_ = find_listener(!is_object);
    if (listener_ != nullptr) {
      ++n_diverted_;
      return count() && told(listener_->open(!is_object));
    }
    stack_.push_back({is_object, {}, {}});
    return count();
  }
  JsonListener* find_listener(bool is_array) const {
    if (stack_.size() != 2 || !stack_[0].is_object || !stack_[1].is_object) return nullptr;
    for (const JsonDiversion& diversion : diversions_) {
      const bool is_here =
          stack_[0].members.back().first == diversion.key && stack_[1].members.back().first == diversion.member;
      if (is_here && diversion.listener->wants(is_array)) return diversion.listener;
    }
    return nullptr;
  }
  bool close_diverted(Value placeholder) {
    if (!told(listener_->close())) return false;
    if (--n_diverted_ > 0) return true;
    listener_ = nullptr;
    return place(std::move(placeholder));
  }
  bool told(std::string problem) { return problem.empty() || stop(std::move(problem)); }
  bool place(Value value) {
    if (stack_.empty()) {
      root_ = std::move(value);
    } else if (stack_.back().is_object) {
      stack_.back().members.back().second = std::move(value);
    } else {
      stack_.back().items.push_back(std::move(value));
    }
    return true;
  }

  const JsonLimits& limits_;
  std::span<const JsonDiversion> diversions_;
  JsonListener* listener_ = nullptr;  ///< takes the value that is open
  size_t n_diverted_ = 0;             ///< arrays and objects open in it
  std::vector<Frame> stack_;
  Value root_;
  std::string problem_;
  size_t n_values_ = 0;
};

/// "file:line:column: problem", the place being the last byte read; columns count bytes, as compilers do.
tl::unexpected<Error> fail_at(std::string_view text, size_t n_read, std::string_view where, std::string_view problem) {
  const std::string_view before = text.substr(0, n_read == 0 ? 0 : n_read - 1);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t column = before.size() - (before.rfind('\n') + 1) + 1;  // rfind: npos + 1 is 0, the first line
  return fail(ErrorCode::kCorrupt, "{}:{}:{}: {}", where, line, column, problem);
}

}  // namespace

Result<Value> parse_json(std::string_view text, std::string_view where, const JsonLimits& limits) {
  return parse_json(text, where, limits, {});
}

Result<Value> parse_json(std::string_view text, std::string_view where, const JsonLimits& limits,
                         std::span<const JsonDiversion> diversions) {
  // The library takes a NUL for the end of the text, so that anything could follow it.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return fail_at(text, nul + 1, where, "a NUL byte, which JSON does not allow");
  }
  const char* furthest = text.data();
  TreeBuilder builder(limits, diversions);
  const TrackingIterator begin(text.data(), &furthest);
  const TrackingIterator end(text.data() + text.size(), &furthest);
  if (!nlohmann::json::sax_parse(begin, end, &builder)) {
    return fail_at(text, static_cast<size_t>(furthest - text.data()), where, builder.problem());
  }
  return std::move(builder.root());
}

std::string json_quote(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace vitro
