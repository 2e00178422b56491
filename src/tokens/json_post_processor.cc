// "post_processor" of tokenizer.json, and its rules for lengths. What is not written here is refused by name.
#include "formats/json.h"
#include "tokens/json_components.h"
#include "tokens/json_shared.h"

namespace vitro {
namespace {

constexpr size_t kMaxSpecialIds = 256;  // that a template puts around texts
constexpr size_t kMaxTexts = 4;         // times that a template has texts in it: bounds the result

Result<TokenId> read_id(const JsonReader& reader, std::string_view key, const Value& value, const Vocabulary& known) {
  const int64_t* id = value.as_int();
  if (id == nullptr || *id < 0 || *id >= static_cast<int64_t>(known.size()))
    return reader.wrong(key, "an id of the vocabulary");
  return static_cast<TokenId>(*id);
}

Result<int32_t> read_type_id(JsonReader& reader, std::string_view key) {
  VITRO_TRY_ASSIGN(const int64_t id, reader.integer(key));
  if (id < 0 || id > INT32_MAX) return reader.wrong(key, "a small count");
  return static_cast<int32_t>(id);
}

/// One list of a template: {"SpecialToken": {"id", "type_id"}} or {"Sequence": {"id": "A" or "B", "type_id"}} each.
class TemplateReader {
 public:
  TemplateReader(JsonReader& reader, JsonReader& specials, const Vocabulary& vocabulary)
      : reader_(reader), specials_(specials), vocabulary_(vocabulary) {}

  Result<std::vector<TemplateStep::Part>> read(std::string_view key, bool is_pair) {
    VITRO_TRY_ASSIGN(const Value::Array* items, reader_.array(key));
    std::vector<TemplateStep::Part> out;
    size_t n_ids = 0;
    size_t n_first = 0;
    size_t n_second = 0;
    for (const Value& item : *items) {
      VITRO_TRY_ASSIGN(TemplateStep::Part part,
                       read_part(item, fmt::format("{}.{}[{}]", reader_.where(), key, out.size())));
      n_ids += 1 + part.ids.size();
      n_first += part.kind == TemplateStep::Part::Kind::kFirst ? 1 : 0;
      n_second += part.kind == TemplateStep::Part::Kind::kSecond ? 1 : 0;
      if (n_ids > kMaxSpecialIds || n_first + n_second > kMaxTexts) return reader_.unsupported("a template this long");
      out.push_back(std::move(part));
    }
    if (n_first == 0) return reader_.wrong(key, "a template with the text (A) in it");
    if (n_second > 0 && !is_pair) return reader_.wrong(key, "a template for one text (A)");
    if (n_second == 0 && is_pair) return reader_.wrong(key, "a template with both texts (A, B) in it");
    return out;
  }

 private:
  Result<TemplateStep::Part> read_part(const Value& value, std::string where) {
    VITRO_TRY_ASSIGN(JsonReader item, JsonReader::open(value, std::move(where)));
    TemplateStep::Part out;
    const bool is_text = item.optional("Sequence") != nullptr;
    VITRO_TRY_ASSIGN(JsonReader part, item.object(is_text ? "Sequence" : "SpecialToken"));
    VITRO_TRY_ASSIGN(const std::string id, part.string("id"));
    VITRO_TRY_ASSIGN(out.type_id, read_type_id(part, "type_id"));
    VITRO_TRY(part.finish());
    VITRO_TRY(item.finish());
    if (is_text) {
      if (id != "A" && id != "B") return part.wrong("id", "A or B");
      out.kind = id == "A" ? TemplateStep::Part::Kind::kFirst : TemplateStep::Part::Kind::kSecond;
      return out;
    }
    VITRO_TRY_ASSIGN(JsonReader token, specials_.object(id));
    VITRO_TRY_ASSIGN(const Value::Array* ids, token.array("ids"));
    if (ids->size() > kMaxSpecialIds) return token.unsupported("this many ids");
    for (const Value& element : *ids) {
      VITRO_TRY_ASSIGN(const TokenId token_id, read_id(token, "ids", element, vocabulary_));
      out.ids.push_back(token_id);
    }
    return out;
  }

  JsonReader& reader_;
  JsonReader& specials_;
  const Vocabulary& vocabulary_;
};

Status read_template(JsonReader& reader, TokenizerParts& parts) {
  for (const PostStep& step : parts.post_steps) {
    if (std::holds_alternative<TemplateStep>(step)) return reader.unsupported("a template after a template");
  }
  VITRO_TRY_ASSIGN(JsonReader specials, reader.object("special_tokens"));
  TemplateReader templates(reader, specials, parts.vocabulary);
  TemplateStep out;
  VITRO_TRY_ASSIGN(out.single, templates.read("single", false));
  VITRO_TRY_ASSIGN(out.pair, templates.read("pair", true));
  parts.post_steps.emplace_back(std::move(out));
  return {};
}

/// ["[SEP]", 102]
Result<TokenId> read_piece_and_id(JsonReader& reader, std::string_view key, const Vocabulary& vocabulary) {
  VITRO_TRY_ASSIGN(const Value::Array* pair, reader.array(key));
  if (pair->size() != 2 || (*pair)[0].as_string() == nullptr) return reader.wrong(key, "a piece and its id");
  return read_id(reader, key, (*pair)[1], vocabulary);
}

/// Shared by BertProcessing and RobertaProcessing.
Status read_cls_sep(JsonReader& reader, bool is_roberta, TokenizerParts& parts) {
  ClsSepStep step{.is_roberta = is_roberta};
  VITRO_TRY_ASSIGN(step.cls, read_piece_and_id(reader, "cls", parts.vocabulary));
  VITRO_TRY_ASSIGN(step.sep, read_piece_and_id(reader, "sep", parts.vocabulary));
  if (is_roberta) {
    VITRO_TRY_ASSIGN(const bool trims, reader.boolean("trim_offsets"));
    VITRO_TRY_ASSIGN(const bool had_space, reader.boolean("add_prefix_space"));
    if (trims) parts.post_steps.emplace_back(TrimOffsets{had_space});
  }
  parts.post_steps.emplace_back(step);
  return {};
}

Status read_byte_level(JsonReader& reader, TokenizerParts& parts) {
  VITRO_TRY_ASSIGN(const bool trims, reader.boolean_or("trim_offsets", true));
  VITRO_TRY_ASSIGN(const bool had_space, reader.boolean_or("add_prefix_space", true));
  reader.skip("use_regex");
  if (trims) parts.post_steps.emplace_back(TrimOffsets{had_space});
  return {};
}

Result<size_t> read_length(JsonReader& reader, std::string_view key) {
  VITRO_TRY_ASSIGN(const int64_t n, reader.integer(key));
  if (n < 0) return reader.wrong(key, "a length");
  return static_cast<size_t>(n);
}

Result<Side> read_side(JsonReader& reader) {
  VITRO_TRY_ASSIGN(const std::string name, reader.string_or("direction", "Right"));
  if (name != "Left" && name != "Right") return reader.wrong("direction", "Left or Right");
  return name == "Left" ? Side::kLeft : Side::kRight;
}

}  // namespace

Status read_post_processor(const Value* value, const std::string& where, TokenizerParts& parts) {
  if (value == nullptr || value->is_null()) return {};
  VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(*value, where));
  if (parts.post_steps.size() >= kMaxComponents) return reader.unsupported("this many post-processors");
  std::string type;
  VITRO_TRY_ASSIGN(type, reader.string("type"));
  if (type == "Sequence") {
    return each_of(reader, "processors",
                   [&](const Value& v, std::string at) { return read_post_processor(&v, at, parts); });
  }
  if (type == "TemplateProcessing") {
    VITRO_TRY(read_template(reader, parts));
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    VITRO_TRY(read_cls_sep(reader, type == "RobertaProcessing", parts));
  } else if (type == "ByteLevel") {
    VITRO_TRY(read_byte_level(reader, parts));
  } else {
    return reader.unsupported("post-processor " + json_quote(type));
  }
  return reader.finish();
}

Status read_truncation(const Value* value, std::optional<Truncation>& out) {
  if (value == nullptr || value->is_null()) return {};
  VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(*value, "truncation"));
  Truncation rules;
  VITRO_TRY_ASSIGN(rules.max_length, read_length(reader, "max_length"));
  VITRO_TRY_ASSIGN(rules.stride, read_length(reader, "stride"));
  VITRO_TRY_ASSIGN(rules.side, read_side(reader));
  VITRO_TRY_ASSIGN(const std::string strategy, reader.string("strategy"));
  if (strategy == "OnlyFirst") {
    rules.strategy = Truncation::Strategy::kOnlyFirst;
  } else if (strategy == "OnlySecond") {
    rules.strategy = Truncation::Strategy::kOnlySecond;
  } else if (strategy != "LongestFirst") {
    return reader.wrong("strategy", "LongestFirst, OnlyFirst or OnlySecond");
  }
  out = rules;
  return reader.finish();
}

Status read_padding(const Value* value, std::optional<Padding>& out) {
  if (value == nullptr || value->is_null()) return {};
  VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(*value, "padding"));
  Padding rules;
  const Value* strategy = reader.optional("strategy");
  if (strategy != nullptr && strategy->as_object() != nullptr) {
    VITRO_TRY_ASSIGN(JsonReader fixed, reader.object("strategy"));
    VITRO_TRY_ASSIGN(rules.fixed_length, read_length(fixed, "Fixed"));
    VITRO_TRY(fixed.finish());
  } else {
    VITRO_TRY_ASSIGN(const std::string name, reader.string("strategy"));
    if (name != "BatchLongest") return reader.wrong("strategy", "BatchLongest or a Fixed length");
  }
  VITRO_TRY_ASSIGN(rules.side, read_side(reader));
  if (reader.optional("pad_to_multiple_of") != nullptr) {
    VITRO_TRY_ASSIGN(rules.multiple_of, read_length(reader, "pad_to_multiple_of"));
  }
  VITRO_TRY_ASSIGN(rules.id, read_type_id(reader, "pad_id"));
  VITRO_TRY_ASSIGN(rules.type_id, read_type_id(reader, "pad_type_id"));
  VITRO_TRY_ASSIGN(rules.piece, reader.string("pad_token"));
  out = std::move(rules);
  return reader.finish();
}

}  // namespace vitro
