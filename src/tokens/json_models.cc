// "model" of tokenizer.json: which kind it is, and the kinds besides byte-pair encoding.
#include "formats/json.h"
#include "formats/quote_name.h"
#include "tokens/json_components.h"
#include "tokens/json_reader.h"
#include "tokens/json_vocabulary.h"

namespace vitro {
namespace {

/// Files from before "type" was written tell their model by its keys; the order is the reference's.
std::string_view type_by_keys(const Value& model) {
  const auto has = [&](std::string_view key) { return model.find(key) != nullptr; };
  const bool has_ids = has("vocab") && model.find("vocab")->as_object() != nullptr;
  if (has_ids && has("merges")) return "BPE";
  if (has_ids && has("unk_token"))
    return has("continuing_subword_prefix") && has("max_input_chars_per_word") ? "WordPiece" : "WordLevel";
  return has("vocab") ? "Unigram" : "";
}

/// Marks the unknown token; -1 where the model has no such piece, which the reference reports only when it needs it.
TokenId find_unknown(const std::string& piece, const std::vector<bool>& is_added_only, TokenizerParts& parts) {
  const TokenId id = parts.vocabulary.find(piece);
  if (id < 0 || is_added_only[static_cast<size_t>(id)]) return -1;
  parts.vocabulary.set_kind(id, TokenKind::kUnknown);
  return id;
}

Result<std::vector<bool>> read_ids(JsonReader& reader, const JsonTables& tables, const Value* added,
                                   TokenizerParts& parts) {
  const Value* vocab = reader.optional("vocab");
  if (vocab == nullptr) return reader.wrong("vocab", "an object");
  VITRO_TRY_ASSIGN(const std::vector<ModelPiece> pieces, read_piece_ids(*vocab, tables));
  return read_vocabulary(pieces, added, parts);
}

Status read_wordpiece(JsonReader& reader, const JsonTables& tables, const Value* added, TokenizerParts& parts) {
  WordPieceSpec spec;
  VITRO_TRY_ASSIGN(spec.continuing_prefix, reader.string("continuing_subword_prefix"));
  VITRO_TRY_ASSIGN(const int64_t max_characters, reader.integer("max_input_chars_per_word"));
  if (max_characters < 0) return reader.wrong("max_input_chars_per_word", "a count");
  spec.max_word_characters = static_cast<size_t>(max_characters);
  VITRO_TRY_ASSIGN(const std::string unknown, reader.string("unk_token"));
  VITRO_TRY_ASSIGN(spec.is_added_only, read_ids(reader, tables, added, parts));
  spec.unknown_id = find_unknown(unknown, spec.is_added_only, parts);
  parts.model = std::move(spec);
  parts.model_name = "WordPiece";
  return {};
}

Status read_word_level(JsonReader& reader, const JsonTables& tables, const Value* added, TokenizerParts& parts) {
  WordLevelSpec spec;
  VITRO_TRY_ASSIGN(const std::string unknown, reader.string("unk_token"));
  VITRO_TRY_ASSIGN(spec.is_added_only, read_ids(reader, tables, added, parts));
  spec.unknown_id = find_unknown(unknown, spec.is_added_only, parts);
  parts.model = std::move(spec);
  parts.model_name = "word level";
  return {};
}

/// ["piece", score] each; the place in the list is the id.
Status read_scored_pieces(const Value::Array& list, std::vector<ModelPiece>& pieces, std::vector<double>& scores) {
  if (list.size() > kMaxVocabulary) return fail(ErrorCode::kUnsupported, "model.vocab: {} pieces", list.size());
  for (const Value& item : list) {
    const Value::Array* pair = item.as_array();
    const bool is_pair = pair != nullptr && pair->size() == 2 && (*pair)[0].as_string() != nullptr;
    const double* real = is_pair ? (*pair)[1].as_real() : nullptr;
    const int64_t* integer = is_pair ? (*pair)[1].as_int() : nullptr;
    if (real == nullptr && integer == nullptr) {
      return fail(ErrorCode::kCorrupt, "model.vocab[{}] is {}, not a piece and its score", pieces.size(),
                  to_string(item, 80));
    }
    pieces.push_back({*(*pair)[0].as_string(), static_cast<int64_t>(pieces.size())});
    scores.push_back(real != nullptr ? *real : static_cast<double>(*integer));
  }
  return {};
}

Status read_unigram(JsonReader& reader, const Value* added, TokenizerParts& parts) {
  UnigramSpec spec;
  VITRO_TRY_ASSIGN(const Value::Array* list, reader.array("vocab"));
  std::vector<ModelPiece> pieces;
  VITRO_TRY(read_scored_pieces(*list, pieces, spec.scores));
  VITRO_TRY(read_vocabulary(pieces, added, parts));
  VITRO_TRY_ASSIGN(spec.has_byte_fallback, reader.boolean_or("byte_fallback", false));
  if (reader.optional("unk_id") != nullptr) {
    VITRO_TRY_ASSIGN(const int64_t unknown, reader.integer("unk_id"));
    if (unknown < 0 || unknown >= static_cast<int64_t>(pieces.size())) return reader.wrong("unk_id", "an id of vocab");
    spec.unknown_id = static_cast<TokenId>(unknown);
    parts.vocabulary.set_kind(spec.unknown_id, TokenKind::kUnknown);
  }
  parts.model = std::move(spec);
  parts.model_name = "unigram";
  return {};
}

}  // namespace

Status read_model(const Value& model, const JsonTables& tables, const Value* added, TokenizerParts& parts) {
  VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(model, "model"));
  std::string type;
  VITRO_TRY_ASSIGN(type, reader.string_or("type", type_by_keys(model)));
  if (type == "BPE") return read_bpe_model(model, tables, added, parts);
  if (type == "WordPiece") {
    VITRO_TRY(read_wordpiece(reader, tables, added, parts));
  } else if (type == "WordLevel") {
    VITRO_TRY(read_word_level(reader, tables, added, parts));
  } else if (type == "Unigram") {
    VITRO_TRY(read_unigram(reader, added, parts));
  } else {
    return reader.unsupported("model " + json_quote(type));
  }
  return reader.finish();
}

}  // namespace vitro
