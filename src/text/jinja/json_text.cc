// json.dumps: Python's layout, separators and escapes.
#include <algorithm>
#include <cmath>

#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/utf8.h"

namespace vitro::jinja {
namespace {

std::string unicode_escape(char32_t c) {
  const auto code = static_cast<uint32_t>(c);
  if (code < 0x10000) return fmt::format("\\u{:04x}", code);
  const uint32_t v = code - 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (v >> 10U), 0xDC00 + (v & 0x3FFU));
}

std::string json_escape(char32_t c, bool is_ascii) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    default:
      return c < 0x20 || (is_ascii && c > 0x7E) ? unicode_escape(c) : "";
  }
}

class JsonWriter {
 public:
  JsonWriter(Runtime& rt, const JsonStyle& style) : rt_(rt), style_(style), out_(rt) {}

  Status write(const Val& value, int level) {
    rt_.budget.step();
    VITRO_TRY(rt_.budget.check());
    switch (value.kind()) {
      case Kind::kNone:
        out_.append("null");
        return {};
      case Kind::kBool:
        out_.append(value.as_bool() ? "true" : "false");
        return {};
      case Kind::kInt:
        out_.append(std::to_string(value.as_int()));
        return {};
      case Kind::kFloat:
        out_.append(real_text(value.as_real()));
        return {};
      case Kind::kString:
        write_string(value.as_string().marked);
        return {};
      case Kind::kList:
      case Kind::kTuple:
        return write_list(value.items(), level);
      case Kind::kDict:
        return write_dict(value.as_dict(), level);
      default:
        return raise("Object of type {} is not JSON serializable", type_name(value));
    }
  }
  Result<Val> finish() { return out_.finish(); }

 private:
  static std::string real_text(double x) {
    if (std::isnan(x)) return "NaN";
    if (std::isinf(x)) return x < 0 ? "-Infinity" : "Infinity";
    return float_repr(x);
  }

  void write_string(const MarkedText& text) {
    out_.append("\"");
    size_t begin = 0;
    for (size_t pos = 0; pos < text.size();) {
      const CodePoint c = decode_utf8(std::string_view(text.text).substr(pos));
      const size_t next = pos + static_cast<size_t>(c.n_bytes);
      const std::string escape = json_escape(c.value, style_.is_ascii);
      if (!escape.empty()) {
        out_.append(text, {begin, pos});
        out_.append(escape, !text.marks_of({pos, next}).empty());
        begin = next;
      }
      pos = next;
    }
    out_.append(text, {begin, text.size()});
    out_.append("\"");
  }

  void write_break(int level) {
    if (!style_.indent) return;
    out_.append("\n");
    for (int i = 0; i < level; ++i) out_.append(*style_.indent);
  }

  void write_between(size_t i, int level) {
    if (i > 0 && style_.item_separator) {
      out_.append(*style_.item_separator);
    } else if (i > 0) {
      out_.append(style_.indent ? "," : ", ");
    }
    write_break(level);
  }

  Status write_list(const std::vector<Val>& items, int level) {
    out_.append("[");
    for (size_t i = 0; i < items.size(); ++i) {
      write_between(i, level + 1);
      VITRO_TRY(write(items[i], level + 1));
    }
    if (!items.empty()) write_break(level);
    out_.append("]");
    return {};
  }

  Status write_key(const Val& key) {
    switch (key.kind()) {
      case Kind::kString:
        write_string(key.as_string().marked);
        return {};
      case Kind::kNone:
      case Kind::kBool:
      case Kind::kInt:
      case Kind::kFloat:
        out_.append("\"");
        VITRO_TRY(write(key, 0));
        out_.append("\"");
        return {};
      default:
        return raise("keys must be str, int, float, bool or None, not {}", type_name(key));
    }
  }

  /// Members in the order in which they are written.
  Result<std::vector<const DictObject::Member*>> ordered(const DictObject& dict) {
    std::vector<const DictObject::Member*> out;
    for (const DictObject::Member& member : dict.members) out.push_back(&member);
    if (!style_.is_sorted) return out;
    Status status;
    std::stable_sort(out.begin(), out.end(), [&](const auto* a, const auto* b) {
      const Result<bool> is_less = less(rt_, a->first, b->first);
      if (!is_less && status) status = tl::unexpected<Error>(is_less.error());
      return is_less && *is_less;
    });
    VITRO_TRY(status);
    return out;
  }

  Status write_dict(const DictObject& dict, int level) {
    VITRO_TRY_ASSIGN(const std::vector<const DictObject::Member*> members, ordered(dict));
    out_.append("{");
    for (size_t i = 0; i < members.size(); ++i) {
      write_between(i, level + 1);
      VITRO_TRY(write_key(members[i]->first));
      if (style_.key_separator) {
        out_.append(*style_.key_separator);
      } else {
        out_.append(": ");
      }
      VITRO_TRY(write(members[i]->second, level + 1));
    }
    if (!members.empty()) write_break(level);
    out_.append("}");
    return {};
  }

  Runtime& rt_;
  const JsonStyle& style_;
  TextBuilder out_;
};

}  // namespace

Result<Val> to_json(Runtime& rt, const Val& value, const JsonStyle& style) {
  JsonWriter writer(rt, style);
  VITRO_TRY(writer.write(value, 0));
  return writer.finish();
}

}  // namespace vitro::jinja
