// "normalizer" of tokenizer.json. What is not written here is refused by name.
#include "formats/json.h"
#include "tokens/json_components.h"
#include "tokens/json_shared.h"

namespace vitro {

Status read_normalizer(const Value* value, const std::string& where, std::vector<TextStep>& out) {
  if (value == nullptr || value->is_null()) return {};
  VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(*value, where));
  if (out.size() >= kMaxComponents) return reader.unsupported("this many normalizers");
  VITRO_TRY_ASSIGN(const std::string type, reader.string("type"));
  if (type == "Sequence") {
    return each_of(reader, "normalizers", [&](const Value& v, std::string at) { return read_normalizer(&v, at, out); });
  }
  if (type == "NFC") {
    out.emplace_back(NfcStep{});
  } else if (type == "Prepend") {
    PrependStep step;
    VITRO_TRY_ASSIGN(step.prefix, reader.string("prepend"));
    out.emplace_back(std::move(step));
  } else if (type == "Replace") {
    VITRO_TRY_ASSIGN(ReplaceStep step, read_replace(reader));
    out.emplace_back(std::move(step));
  } else {
    return reader.unsupported("normalizer " + json_quote(type));
  }
  return reader.finish();
}

}  // namespace vitro
