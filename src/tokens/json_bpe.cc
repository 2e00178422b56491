// "model" of tokenizer.json of type BPE: merges and flags.
#include "formats/json.h"
#include "formats/quote_name.h"
#include "tokens/json_components.h"
#include "tokens/json_reader.h"
#include "tokens/json_vocabulary.h"

namespace vitro {
namespace {

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

}  // namespace

Status read_bpe_model(const Value& model, const Value* added, TokenizerParts& parts) {
  VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(model, "model"));
  reader.skip("type");
  const Value* vocab = reader.optional("vocab");
  if (vocab == nullptr) return reader.wrong("vocab", "an object");
  VITRO_TRY_ASSIGN(const std::vector<ModelPiece> pieces, read_piece_ids(*vocab));
  BpeSpec spec;
  VITRO_TRY_ASSIGN(spec.is_added_only, read_vocabulary(pieces, added, parts));
  VITRO_TRY_ASSIGN(const Value::Array* merges, reader.array("merges"));
  VITRO_TRY_ASSIGN(spec.merges, read_merges(*merges, parts.vocabulary));
  VITRO_TRY_ASSIGN(spec.options, read_options(reader, parts.vocabulary));
  if (spec.options.unknown_id >= 0) parts.vocabulary.set_kind(spec.options.unknown_id, TokenKind::kUnknown);
  parts.model = std::move(spec);
  return reader.finish();
}

}  // namespace vitro
