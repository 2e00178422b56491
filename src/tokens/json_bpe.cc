// The model and the added tokens of tokenizer.json: one table of pieces by id, then merges and flags.
#include <algorithm>

#include "formats/json.h"
#include "formats/quote_name.h"
#include "tokens/json_components.h"
#include "tokens/json_reader.h"

namespace vitro {
namespace {

/// Pieces by id while they are collected; null for ids that nobody claims.
class PieceTable {
 public:
  /// At most twice as many ids as entries: a file cannot make us allocate much by one large id.
  explicit PieceTable(size_t n_entries) : limit_(std::min(kMaxVocabulary, 2 * n_entries + 1024)) {}

  Status put(const std::string& piece, int64_t id) {
    if (id < 0 || static_cast<size_t>(id) >= limit_) {
      return fail(ErrorCode::kCorrupt, "{} has the id {}, outside 0 to {}", quote_name(piece), id, limit_ - 1);
    }
    const auto idx = static_cast<size_t>(id);
    if (idx >= pieces_.size()) pieces_.resize(idx + 1);
    if (pieces_[idx] != nullptr && *pieces_[idx] != piece) {
      return fail(ErrorCode::kCorrupt, "{} and {} have the same id {}", quote_name(*pieces_[idx]), quote_name(piece),
                  id);
    }
    if (pieces_[idx] == nullptr) n_bytes_ += piece.size();
    pieces_[idx] = &piece;
    return {};
  }

  Result<Vocabulary> build() const {
    VITRO_TRY_ASSIGN(Vocabulary out, Vocabulary::with_room(pieces_.size(), n_bytes_));
    for (const std::string* piece : pieces_) {
      if (piece == nullptr) {
        out.add_hole();
        continue;
      }
      const TokenKind kind = byte_token_value(*piece) >= 0 ? TokenKind::kByte : TokenKind::kNormal;
      VITRO_TRY(out.add(*piece, kind));
    }
    return out;
  }

 private:
  size_t limit_;
  std::vector<const std::string*> pieces_;
  size_t n_bytes_ = 0;
};

Result<AddedToken> read_added_token(const Value& value, std::string where) {
  VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(value, std::move(where)));
  AddedToken out;
  VITRO_TRY_ASSIGN(const int64_t id, reader.integer("id"));
  if (id < 0 || id >= static_cast<int64_t>(kMaxVocabulary)) return reader.wrong("id", "an id");
  out.id = static_cast<TokenId>(id);
  VITRO_TRY_ASSIGN(out.content, reader.string("content"));
  VITRO_TRY_ASSIGN(out.is_special, reader.boolean_or("special", false));
  VITRO_TRY_ASSIGN(out.is_single_word, reader.boolean_or("single_word", false));
  VITRO_TRY_ASSIGN(out.strips_left, reader.boolean_or("lstrip", false));
  VITRO_TRY_ASSIGN(out.strips_right, reader.boolean_or("rstrip", false));
  VITRO_TRY_ASSIGN(out.is_normalized, reader.boolean_or("normalized", true));
  VITRO_TRY(reader.finish());
  return out;
}

Result<std::vector<AddedToken>> read_added_tokens(const Value* value) {
  std::vector<AddedToken> out;
  if (value == nullptr || value->is_null()) return out;
  if (value->as_array() == nullptr) return fail(ErrorCode::kCorrupt, "added_tokens is not an array");
  for (const Value& item : *value->as_array()) {
    VITRO_TRY_ASSIGN(AddedToken token, read_added_token(item, fmt::format("added_tokens[{}]", out.size())));
    out.push_back(std::move(token));
  }
  return out;
}

Result<Vocabulary> read_vocabulary(const Value& vocab, const std::vector<AddedToken>& added) {
  const Value::Object* entries = vocab.as_object();
  if (entries == nullptr) return fail(ErrorCode::kCorrupt, "model.vocab is not an object");
  PieceTable table(entries->size() + added.size());
  for (const auto& [piece, id] : *entries) {
    if (id.as_int() == nullptr)
      return fail(ErrorCode::kCorrupt, "model.vocab: the id of {} is no integer", quote_name(piece));
    VITRO_TRY(table.put(piece, *id.as_int()));
  }
  for (const AddedToken& token : added) VITRO_TRY(table.put(token.content, token.id));
  return table.build();
}

struct MergePieces {
  std::string_view left;
  std::string_view right;
};

/// "left right" with exactly one space, or ["left", "right"].
Result<MergePieces> read_merge_pieces(const Value& value, size_t idx) {
  if (const std::string* text = value.as_string()) {
    const size_t space = text->find(' ');
    if (space != std::string::npos && text->find(' ', space + 1) == std::string::npos) {
      return MergePieces{std::string_view(*text).substr(0, space), std::string_view(*text).substr(space + 1)};
    }
  } else if (const Value::Array* pair = value.as_array(); pair != nullptr && pair->size() == 2) {
    if ((*pair)[0].as_string() != nullptr && (*pair)[1].as_string() != nullptr) {
      return MergePieces{*(*pair)[0].as_string(), *(*pair)[1].as_string()};
    }
  }
  return fail(ErrorCode::kCorrupt, "model.merges[{}] is {}, not two pieces", idx, to_string(value, 80));
}

Result<MergeTable::Merge> read_merge(const Vocabulary& vocabulary, const Value& value, size_t idx) {
  VITRO_TRY_ASSIGN(const MergePieces pieces, read_merge_pieces(value, idx));
  const std::string joined = std::string(pieces.left) + std::string(pieces.right);
  const MergeTable::Merge merge{vocabulary.find(pieces.left), vocabulary.find(pieces.right), static_cast<uint32_t>(idx),
                                vocabulary.find(joined)};
  if (merge.left < 0 || merge.right < 0 || merge.joined < 0) {
    const std::string_view missing = merge.left < 0    ? pieces.left
                                     : merge.right < 0 ? pieces.right
                                                       : std::string_view(joined);
    return fail(ErrorCode::kCorrupt, "model.merges[{}] needs the piece {}, which is not in the vocabulary", idx,
                quote_name(missing));
  }
  return merge;
}

/// Added from the last to the first, because of twins the reference keeps the last; read in order, to name the first
/// fault.
Result<MergeTable> read_merges(const Value::Array& merges, const Vocabulary& vocabulary) {
  if (merges.size() > kMaxVocabulary) return fail(ErrorCode::kUnsupported, "model.merges: {} entries", merges.size());
  std::vector<MergeTable::Merge> in_order;
  in_order.reserve(merges.size());
  for (size_t i = 0; i < merges.size(); ++i) {
    const std::string* text = merges[i].as_string();
    if (text != nullptr && text->starts_with("#version")) continue;
    VITRO_TRY_ASSIGN(const MergeTable::Merge merge, read_merge(vocabulary, merges[i], i));
    in_order.push_back(merge);
  }
  MergeTable out(in_order.size());
  for (size_t i = in_order.size(); i-- > 0;) VITRO_TRY(out.add(in_order[i]));
  return out;
}

Status refuse_options(JsonReader& reader) {
  const Value* dropout = reader.optional("dropout");
  if (dropout != nullptr && (dropout->as_real() == nullptr || *dropout->as_real() != 0))
    return reader.unsupported("dropout");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    VITRO_TRY_ASSIGN(const std::string affix, reader.string_or(key, ""));
    if (!affix.empty()) return reader.unsupported(key);
  }
  return {};
}

Result<BpeOptions> read_options(JsonReader& reader, const Vocabulary& vocabulary) {
  BpeOptions out{.alphabet = BpeAlphabet::kCharacters};
  VITRO_TRY(refuse_options(reader));
  VITRO_TRY_ASSIGN(out.fuses_unknown, reader.boolean_or("fuse_unk", false));
  VITRO_TRY_ASSIGN(out.has_byte_fallback, reader.boolean_or("byte_fallback", false));
  VITRO_TRY_ASSIGN(out.takes_whole_words, reader.boolean_or("ignore_merges", false));
  VITRO_TRY_ASSIGN(const std::string unknown, reader.string_or("unk_token", ""));
  if (unknown.empty()) return out;
  out.unknown_id = vocabulary.find(unknown);
  if (out.unknown_id < 0) return reader.wrong("unk_token", "a piece of the vocabulary");
  return out;
}

void mark_added(const std::vector<AddedToken>& added, TokenizerParts& parts) {
  parts.is_special.resize(parts.vocabulary.size());
  for (const AddedToken& token : added) {
    if (token.content.empty()) continue;
    parts.vocabulary.set_kind(token.id, token.is_special ? TokenKind::kControl : TokenKind::kUserDefined);
    if (token.is_special) parts.is_special[static_cast<size_t>(token.id)] = true;
  }
}

/// Files from before "type" was written tell their model by its keys.
std::string_view type_by_keys(const Value& model) {
  if (model.find("merges") != nullptr) return "BPE";
  return model.find("unk_id") != nullptr ? "Unigram" : "WordPiece or WordLevel";
}

}  // namespace

Status read_bpe_model(const Value& model, const Value* added, TokenizerParts& parts) {
  VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(model, "model"));
  VITRO_TRY_ASSIGN(const std::string type, reader.string_or("type", type_by_keys(model)));
  if (type != "BPE") return reader.unsupported("model " + json_quote(type));
  const Value* vocab = reader.optional("vocab");
  if (vocab == nullptr) return reader.wrong("vocab", "an object");
  VITRO_TRY_ASSIGN(parts.added, read_added_tokens(added));
  VITRO_TRY_ASSIGN(parts.vocabulary, read_vocabulary(*vocab, parts.added));
  VITRO_TRY_ASSIGN(const Value::Array* merges, reader.array("merges"));
  BpeSpec spec;
  VITRO_TRY_ASSIGN(spec.merges, read_merges(*merges, parts.vocabulary));
  VITRO_TRY_ASSIGN(spec.options, read_options(reader, parts.vocabulary));
  mark_added(parts.added, parts);
  if (spec.options.unknown_id >= 0) parts.vocabulary.set_kind(spec.options.unknown_id, TokenKind::kUnknown);
  parts.model = std::move(spec);
  return reader.finish();
}

}  // namespace vitro
