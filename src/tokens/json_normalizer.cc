// "normalizer" of tokenizer.json. What is not written here is refused by name.
#include "formats/json.h"
#include "text/base64.h"
#include "tokens/json_components.h"
#include "tokens/json_shared.h"

namespace vitro {
namespace {

/// Components that are only a name.
std::optional<TextStep> step_named(std::string_view type) {
  if (type == "NFC") return NormalFormStep{NormalForm::kNfc};
  if (type == "NFD") return NormalFormStep{NormalForm::kNfd};
  if (type == "NFKC") return NormalFormStep{NormalForm::kNfkc};
  if (type == "NFKD") return NormalFormStep{NormalForm::kNfkd};
  if (type == "Lowercase") return CharacterMapStep{CharacterMap::kLowercase};
  if (type == "StripAccents") return CharacterMapStep{CharacterMap::kRemoveMarks};
  if (type == "Nmt") return CharacterMapStep{CharacterMap::kNmt};
  if (type == "ByteLevel") return ByteLevelStep{};
  return std::nullopt;
}

Status read_bert(JsonReader& reader, std::vector<TextStep>& out) {
  VITRO_TRY_ASSIGN(const bool cleans, reader.boolean_or("clean_text", true));
  VITRO_TRY_ASSIGN(const bool spaces_chinese, reader.boolean_or("handle_chinese_chars", true));
  VITRO_TRY_ASSIGN(const bool lowercases, reader.boolean_or("lowercase", true));
  VITRO_TRY_ASSIGN(const bool strips_accents, reader.boolean_or("strip_accents", lowercases));
  if (cleans) out.emplace_back(CharacterMapStep{CharacterMap::kClean});
  if (spaces_chinese) out.emplace_back(CharacterMapStep{CharacterMap::kSpaceAroundChinese});
  if (strips_accents) {
    out.emplace_back(NormalFormStep{NormalForm::kNfd});
    out.emplace_back(CharacterMapStep{CharacterMap::kRemoveNonspacing});
  }
  if (lowercases) out.emplace_back(CharacterMapStep{CharacterMap::kLowercase});
  return {};
}

Result<TextStep> read_precompiled(JsonReader& reader) {
  VITRO_TRY_ASSIGN(const std::string text, reader.string("precompiled_charsmap"));
  const std::optional<std::string> bytes = from_base64(text);
  if (!bytes) return reader.wrong("precompiled_charsmap", "base64 with its padding");
  Result<PrecompiledCharsmap> charsmap = PrecompiledCharsmap::make(*bytes);
  if (!charsmap) return fail(charsmap.error().in(reader.where()));
  if (!charsmap->writes_utf8()) return reader.wrong("precompiled_charsmap", "rules that write UTF-8");
  return PrecompiledStep{std::move(*charsmap)};
}

Result<TextStep> read_text_replacement(JsonReader& reader) {
  const Value* pattern = reader.optional("pattern");
  const Value* regex = pattern == nullptr ? nullptr : pattern->find("Regex");
  if (regex == nullptr) {
    VITRO_TRY_ASSIGN(ReplaceStep step, read_replace(reader));
    return step;
  }
  if (regex->as_string() == nullptr || pattern->as_object()->size() != 1) {
    return reader.wrong("pattern", "one String or Regex");
  }
  VITRO_TRY_ASSIGN(std::string content, reader.string("content"));
  Result<SplitPattern> compiled = SplitPattern::compile(*regex->as_string());
  if (!compiled) return fail(compiled.error().in(reader.where()));
  return ReplacePatternStep{std::move(*compiled), std::move(content)};
}

Result<TextStep> read_strip(JsonReader& reader) {
  StripStep step;
  VITRO_TRY_ASSIGN(step.strips_left, reader.boolean_or("strip_left", true));
  VITRO_TRY_ASSIGN(step.strips_right, reader.boolean_or("strip_right", true));
  return step;
}

Result<TextStep> read_one(const std::string& type, JsonReader& reader) {
  if (std::optional<TextStep> step = step_named(type)) return std::move(*step);
  if (type == "Strip") return read_strip(reader);
  if (type == "Replace") return read_text_replacement(reader);
  if (type == "Precompiled") return read_precompiled(reader);
  if (type != "Prepend") return reader.unsupported("normalizer " + json_quote(type));
  PrependStep step;
  VITRO_TRY_ASSIGN(step.prefix, reader.string("prepend"));
  return step;
}

}  // namespace

Status read_normalizer(const Value* value, const std::string& where, std::vector<TextStep>& out) {
  if (value == nullptr || value->is_null()) return {};
  VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(*value, where));
  if (out.size() >= kMaxComponents) return reader.unsupported("this many normalizers");
  VITRO_TRY_ASSIGN(const std::string type, reader.string("type"));
  if (type == "Sequence") {
    return each_of(reader, "normalizers", [&](const Value& v, std::string at) { return read_normalizer(&v, at, out); });
  }
  if (type == "BertNormalizer") {
    VITRO_TRY(read_bert(reader, out));
  } else {
    VITRO_TRY_ASSIGN(TextStep step, read_one(type, reader));
    out.push_back(std::move(step));
  }
  return reader.finish();
}

}  // namespace vitro
