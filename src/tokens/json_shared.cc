// Lists of components, and replacements.
#include "tokens/json_shared.h"

namespace vitro {
namespace {

constexpr size_t kMaxPatternBytes = 256;  // bounds the comparisons for each byte of a text

}  // namespace

Status each_of(JsonReader& reader, std::string_view key, const std::function<Status(const Value&, std::string)>& read) {
  VITRO_TRY_ASSIGN(const Value::Array* elements, reader.array(key));
  if (elements->size() > kMaxComponents) return reader.unsupported("a sequence this long");
  for (size_t i = 0; i < elements->size(); ++i) {
    VITRO_TRY(read((*elements)[i], fmt::format("{}.{}[{}]", reader.where(), key, i)));
  }
  return reader.finish();
}

Result<ReplaceStep> read_replace(JsonReader& reader) {
  VITRO_TRY_ASSIGN(JsonReader pattern, reader.object("pattern"));
  ReplaceStep out;
  VITRO_TRY_ASSIGN(out.pattern, pattern.string("String"));
  VITRO_TRY(pattern.finish());
  VITRO_TRY_ASSIGN(out.content, reader.string("content"));
  if (out.pattern.empty()) return reader.unsupported("an empty pattern");
  if (out.pattern.size() > kMaxPatternBytes) return reader.unsupported("a pattern this long");
  VITRO_TRY(reader.finish());
  return out;
}

}  // namespace vitro
