// "post_processor" of tokenizer.json. What is not written here is refused by name.
#include "formats/json.h"
#include "tokens/json_components.h"
#include "tokens/json_shared.h"

namespace vitro {
namespace {

constexpr size_t kMaxSpecialIds = 256;  // that a template puts around a text

/// "single" of TemplateProcessing: ids before the text, the text ("A"), ids after it.
Status read_template(JsonReader& reader, TokenizerParts& parts) {
  VITRO_TRY_ASSIGN(const Value::Array* items, reader.array("single"));
  VITRO_TRY_ASSIGN(JsonReader specials, reader.object("special_tokens"));
  AddSpecial out;
  bool has_text = false;
  for (size_t i = 0; i < items->size(); ++i) {
    VITRO_TRY_ASSIGN(JsonReader item, JsonReader::open((*items)[i], fmt::format("{}.single[{}]", reader.where(), i)));
    if (item.optional("Sequence") != nullptr) {
      if (has_text) return item.unsupported("the text twice");
      has_text = true;
      continue;
    }
    VITRO_TRY_ASSIGN(JsonReader special, item.object("SpecialToken"));
    VITRO_TRY_ASSIGN(const std::string name, special.string("id"));
    VITRO_TRY_ASSIGN(JsonReader token, specials.object(name));
    VITRO_TRY_ASSIGN(const Value::Array* ids, token.array("ids"));
    for (const Value& id : *ids) {
      const auto n_ids = static_cast<int64_t>(parts.vocabulary.size());
      if (id.as_int() == nullptr || *id.as_int() < 0 || *id.as_int() >= n_ids) {
        return token.wrong("ids", "a list of ids of the vocabulary");
      }
      if (out.before.size() + out.after.size() >= kMaxSpecialIds) return reader.unsupported("a template this long");
      (has_text ? out.after : out.before).push_back(static_cast<TokenId>(*id.as_int()));
    }
  }
  if (!has_text) return reader.wrong("single", "a template with the text in it");
  reader.skip("pair");
  parts.post_steps.emplace_back(std::move(out));
  return reader.finish();
}

}  // namespace

Status read_post_processor(const Value* value, const std::string& where, TokenizerParts& parts) {
  if (value == nullptr || value->is_null()) return {};
  VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(*value, where));
  if (parts.post_steps.size() >= kMaxComponents) return reader.unsupported("this many post-processors");
  VITRO_TRY_ASSIGN(const std::string type, reader.string("type"));
  if (type == "Sequence") {
    return each_of(reader, "processors",
                   [&](const Value& v, std::string at) { return read_post_processor(&v, at, parts); });
  }
  if (type == "TemplateProcessing") return read_template(reader, parts);
  if (type != "ByteLevel") return reader.unsupported("post-processor " + json_quote(type));
  VITRO_TRY_ASSIGN(const bool trims, reader.boolean_or("trim_offsets", true));
  VITRO_TRY_ASSIGN(const bool had_space, reader.boolean_or("add_prefix_space", true));
  reader.skip("use_regex");
  if (trims) parts.post_steps.emplace_back(TrimOffsets{had_space});
  return reader.finish();
}

}  // namespace vitro
