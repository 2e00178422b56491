#include "formats/value.h"

#include <fmt/core.h>

#include <cmath>

#include "formats/json.h"

namespace vitro {
namespace {

/// Appends compact JSON until `out` is longer than `max_chars`; depth is bounded by the readers that make values.
class Writer {
 public:
  Writer(std::string& out, size_t max_chars) : out_(out), max_chars_(max_chars) {}

  void write(const Value& value) {
    if (const auto* b = value.as_bool()) {
      out_ += *b ? "true" : "false";
    } else if (const auto* n = value.as_int()) {
      out_ += fmt::format("{}", *n);
    } else if (const auto* x = value.as_real()) {
      write_real(*x);
    } else if (const auto* s = value.as_string()) {
      write_string(*s);
    } else if (const auto* items = value.as_array()) {
      write_array(*items);
    } else if (const auto* members = value.as_object()) {
      write_object(*members);
    } else {
      out_ += "null";
    }
  }

 private:
  bool is_full() const { return out_.size() > max_chars_; }

  /// Shortest digits that read back the same; a whole number keeps ".0" so that it stays a real. JSON has no NaN: null.
  void write_real(double x) {
    if (!std::isfinite(x)) {
      out_ += "null";
      return;
    }
    const std::string digits = fmt::format("{}", x);
    out_ += digits;
    if (digits.find_first_of(".e") == std::string::npos) out_ += ".0";
  }

  /// No more of a long string is quoted than can be shown (the cut itself happens in to_string).
  void write_string(std::string_view text) { out_ += json_quote(text.substr(0, max_chars_)); }

  void write_array(const Value::Array& items) {
    out_ += '[';
    for (size_t i = 0; i < items.size() && !is_full(); ++i) {
      if (i > 0) out_ += ',';
      write(items[i]);
    }
    out_ += ']';
  }

  void write_object(const Value::Object& members) {
    out_ += '{';
    for (size_t i = 0; i < members.size() && !is_full(); ++i) {
      if (i > 0) out_ += ',';
      write_string(members[i].first);
      out_ += ':';
      write(members[i].second);
    }
    out_ += '}';
  }

  std::string& out_;
  size_t max_chars_;
};

bool is_utf8_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

const Value* Value::find(std::string_view key) const {
  const Object* members = as_object();
  if (members == nullptr) return nullptr;
  for (const Member& member : *members) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

std::string_view Value::kind_name() const {
  constexpr std::string_view kNames[] = {"null", "bool", "integer", "real", "string", "array", "object"};
  return kNames[data_.index()];
}

std::string to_string(const Value& value, size_t max_chars) {
  std::string out;
  Writer(out, max_chars).write(value);
  if (out.size() <= max_chars) return out;
  size_t cut = max_chars > 3 ? max_chars - 3 : 0;
  while (cut > 0 && is_utf8_continuation(out[cut])) --cut;
  return out.substr(0, cut) + "...";
}

}  // namespace vitro
