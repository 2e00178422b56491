// Ids are checked against a table before anything is kept: a hole, a twin or a huge id must cost nothing.
#include "tokens/json_vocabulary.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "formats/quote_name.h"
#include "tokens/json_reader.h"
#include "tokens/pipeline_tokenizer.h"

namespace vitro {
namespace {

/// Pieces by id while they are collected; without bytes for ids that nobody claims.
class PieceTable {
 public:
  /// At most twice as many ids as entries: a file cannot make us allocate much by one large id.
  explicit PieceTable(size_t n_entries) : limit_(std::min(kMaxVocabulary, 2 * n_entries + 1024)) {}

  Status put(std::string_view piece, int64_t id) {
    if (id < 0 || static_cast<size_t>(id) >= limit_) {
      return fail(ErrorCode::kCorrupt, "{} has the id {}, outside 0 to {}", quote_name(piece), id, limit_ - 1);
    }
    const auto idx = static_cast<size_t>(id);
    if (idx >= pieces_.size()) pieces_.resize(idx + 1);
    if (pieces_[idx].data() != nullptr && pieces_[idx] != piece) {
      return fail(ErrorCode::kCorrupt, "{} and {} have the same id {}", quote_name(pieces_[idx]), quote_name(piece),
                  id);
    }
    if (pieces_[idx].data() == nullptr) n_bytes_ += piece.size();
    pieces_[idx] = piece;
    return {};
  }

  Result<Vocabulary> build() const {
    VITRO_TRY_ASSIGN(Vocabulary out, Vocabulary::with_room(pieces_.size(), n_bytes_));
    for (const std::string_view piece : pieces_) {
      if (piece.data() == nullptr) {
        out.add_hole();
        continue;
      }
      const TokenKind kind = byte_token_value(piece) >= 0 ? TokenKind::kByte : TokenKind::kNormal;
      VITRO_TRY(out.add(piece, kind));
    }
    return out;
  }

 private:
  size_t limit_;
  std::vector<std::string_view> pieces_;
  size_t n_bytes_ = 0;
};

Result<AddedToken> read_added_token(const Value& value, std::string where) {
  VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(value, std::move(where)));
  AddedToken out;
  VITRO_TRY_ASSIGN(const int64_t id, reader.integer("id"));
  if (id < 0 || id >= static_cast<int64_t>(kMaxVocabulary)) return reader.wrong("id", "an id");
  VITRO_TRY_ASSIGN(out.content, reader.string("content"));
  VITRO_TRY_ASSIGN(out.is_special, reader.boolean_or("special", false));
  VITRO_TRY_ASSIGN(out.is_single_word, reader.boolean_or("single_word", false));
  VITRO_TRY_ASSIGN(out.strips_left, reader.boolean_or("lstrip", false));
  VITRO_TRY_ASSIGN(out.strips_right, reader.boolean_or("rstrip", false));
  VITRO_TRY_ASSIGN(out.is_normalized, reader.boolean_or("normalized", true));
  VITRO_TRY(reader.finish());
  return out;
}

/// Those that the reference takes: empty ones are left out, of twins the last counts, special if one of them is.
Result<std::vector<AddedToken>> read_added_tokens(const Value* value) {
  std::vector<AddedToken> out;
  if (value == nullptr || value->is_null()) return out;
  if (value->as_array() == nullptr) return fail(ErrorCode::kCorrupt, "added_tokens is not an array");
  std::unordered_map<std::string, size_t> places;
  size_t n_read = 0;
  for (const Value& item : *value->as_array()) {
    VITRO_TRY_ASSIGN(AddedToken token, read_added_token(item, fmt::format("added_tokens[{}]", n_read++)));
    if (token.content.empty()) continue;
    const auto [place, is_new] = places.try_emplace(token.content, out.size());
    if (is_new) {
      out.push_back(std::move(token));
    } else {
      token.is_special = token.is_special || out[place->second].is_special;
      out[place->second] = std::move(token);
    }
  }
  return out;
}

/// Gives the ids; returns for each token whether the model knows it.
std::vector<bool> assign_ids(const std::vector<ModelPiece>& pieces, std::vector<AddedToken>& added) {
  std::unordered_map<std::string_view, size_t> places;
  for (size_t i = 0; i < added.size(); ++i) places.emplace(added[i].content, i);
  std::vector<bool> is_known(added.size());
  for (const ModelPiece& entry : pieces) {
    if (places.empty()) break;
    const auto found = places.find(entry.piece);
    if (found == places.end()) continue;
    is_known[found->second] = true;
    added[found->second].id = static_cast<TokenId>(std::clamp<int64_t>(entry.id, -1, kMaxVocabulary));
  }
  auto next = static_cast<TokenId>(std::min(pieces.size(), kMaxVocabulary));
  for (size_t i = 0; i < added.size(); ++i) {
    if (!is_known[i]) added[i].id = next++;
  }
  return is_known;
}

}  // namespace

Result<std::vector<ModelPiece>> read_piece_ids(const Value& vocab, const JsonTables& tables) {
  if (vocab.as_object() == nullptr) return fail(ErrorCode::kCorrupt, "model.vocab is not an object");
  return tables.pieces.pieces();
}

Result<std::vector<bool>> read_vocabulary(const std::vector<ModelPiece>& pieces, const Value* added,
                                          TokenizerParts& parts) {
  VITRO_TRY_ASSIGN(parts.added, read_added_tokens(added));
  const std::vector<bool> is_known = assign_ids(pieces, parts.added);
  PieceTable table(pieces.size() + parts.added.size());
  for (const ModelPiece& entry : pieces) VITRO_TRY(table.put(entry.piece, entry.id));
  for (const AddedToken& token : parts.added) VITRO_TRY(table.put(token.content, token.id));
  VITRO_TRY_ASSIGN(parts.vocabulary, table.build());
  parts.is_special.resize(parts.vocabulary.size());
  std::vector<bool> is_added_only(parts.vocabulary.size());
  for (size_t i = 0; i < parts.added.size(); ++i) {
    const AddedToken& token = parts.added[i];
    const auto idx = static_cast<size_t>(token.id);
    if (parts.vocabulary.kind(token.id) != TokenKind::kByte) {  // which a model still takes for bytes
      parts.vocabulary.set_kind(token.id, token.is_special ? TokenKind::kControl : TokenKind::kUserDefined);
    }
    parts.is_special[idx] = token.is_special;
    is_added_only[idx] = !is_known[i];
  }
  return is_added_only;
}

}  // namespace vitro
