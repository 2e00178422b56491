// A SentencePieceModel -> TokenizerParts. User-defined symbols are cut out of the normalised text, which is how the
// package keeps them whole; the unigram model knows them itself.
#include "tokens/load_sources.h"
#include "tokens/sentencepiece_model.h"

namespace vitro {
namespace {

constexpr std::string_view kMark = "\u2581";

using Type = SentencePieceModel::Type;

Result<Vocabulary> make_vocabulary(const SentencePieceModel& model) {
  size_t n_bytes = 0;
  for (const SentencePieceModel::Piece& piece : model.pieces) n_bytes += piece.text.size();
  VITRO_TRY_ASSIGN(Vocabulary out, Vocabulary::with_room(model.pieces.size(), n_bytes));
  for (const SentencePieceModel::Piece& piece : model.pieces) VITRO_TRY(out.add(piece.text, piece.kind, piece.score));
  return out;
}

Result<TextStep> make_normalizer(const SentencePieceModel& model) {
  PrecompiledCharsmap charsmap;
  if (!model.charsmap.empty()) {
    VITRO_TRY_ASSIGN(charsmap, PrecompiledCharsmap::make(model.charsmap));
  }
  std::vector<std::string_view> symbols;
  for (const SentencePieceModel::Piece& piece : model.pieces) {
    if (piece.kind == TokenKind::kUserDefined) symbols.push_back(piece.text);
  }
  VITRO_TRY_ASSIGN(SymbolSet set, SymbolSet::make(symbols));
  const SentencePieceNormalizer::Rules rules{.adds_dummy_prefix = model.adds_dummy_prefix,
                                             .removes_extra_spaces = model.removes_extra_spaces,
                                             .escapes_spaces = model.escapes_spaces,
                                             .has_space_suffix = model.has_space_suffix};
  return SentencePieceStep{SentencePieceNormalizer(rules, std::move(charsmap), std::move(set))};
}

void cut_out_symbols(const SentencePieceModel& model, TokenizerParts& parts) {
  for (size_t i = 0; i < model.pieces.size(); ++i) {
    if (model.pieces[i].kind != TokenKind::kUserDefined) continue;
    parts.added.push_back({.id = static_cast<TokenId>(i),
                           .content = std::string(model.pieces[i].text),
                           .is_normalized = true,
                           .is_verbatim = true});
  }
}

Status add_bpe(const SentencePieceModel& model, TokenizerParts& parts) {
  for (const SentencePieceModel::Piece& piece : model.pieces) {
    if (piece.kind != TokenKind::kUnused) continue;
    return fail(ErrorCode::kUnsupported, "unused pieces in a BPE model");
  }
  parts.model_name = model.type == Type::kBpe ? "SentencePiece BPE" : "SentencePiece characters";
  parts.model = BpeSpec{.merges = MergeTable(),
                        .options = {.alphabet = BpeAlphabet::kCharacters,
                                    .order = model.type == Type::kBpe ? BpeOrder::kScores : BpeOrder::kRanks,
                                    .has_byte_fallback = model.has_byte_fallback,
                                    .fuses_unknown = true,
                                    .unknown_id = model.unknown_id}};
  cut_out_symbols(model, parts);
  return {};
}

Status add_unigram(const SentencePieceModel& model, TokenizerParts& parts) {
  UnigramSpec spec{.rules = UnigramRules::kSentencePiece,
                   .scores = {},
                   .unknown_id = model.unknown_id,
                   .has_byte_fallback = model.has_byte_fallback};
  for (const SentencePieceModel::Piece& piece : model.pieces) spec.scores.push_back(piece.score);
  parts.model_name = "SentencePiece unigram";
  parts.model = std::move(spec);
  return {};
}

/// A word begins at every mark; it is one piece or unknown.
Status add_words(const SentencePieceModel& model, TokenizerParts& parts) {
  if (model.has_byte_fallback) return fail(ErrorCode::kUnsupported, "byte_fallback in a word model");
  parts.model_name = "SentencePiece words";
  parts.model = WordLevelSpec{.unknown_id = model.unknown_id, .fuses_unknown = true, .is_added_only = {}};
  parts.pre_tokenizers.emplace_back(SplitStep{SplitPattern::literal(kMark), SplitBehavior::kMergedWithNext, false});
  return {};
}

Status add_model(const SentencePieceModel& model, TokenizerParts& parts) {
  switch (model.type) {
    case Type::kBpe:
    case Type::kChar:
      return add_bpe(model, parts);
    case Type::kUnigram:
      return add_unigram(model, parts);
    case Type::kWord:
      return add_words(model, parts);
  }
  return {};
}

TokenId control_id(const Vocabulary& vocabulary, std::string_view piece) {
  const TokenId id = vocabulary.find(piece);
  return vocabulary.kind(id) == TokenKind::kControl ? id : -1;
}

Result<TokenizerParts> make_parts(const SentencePieceModel& model) {
  TokenizerParts parts;
  VITRO_TRY_ASSIGN(parts.vocabulary, make_vocabulary(model));
  VITRO_TRY_ASSIGN(TextStep normalizer, make_normalizer(model));
  parts.normalizers.push_back(std::move(normalizer));
  VITRO_TRY(add_model(model, parts));
  parts.is_special.resize(model.pieces.size());
  for (size_t i = 0; i < model.pieces.size(); ++i) parts.is_special[i] = model.pieces[i].kind == TokenKind::kControl;
  parts.bos_id = control_id(parts.vocabulary, model.bos_piece);
  parts.eos_id = control_id(parts.vocabulary, model.eos_piece);
  using Leading = SentencePieceDecode::Leading;
  const Leading one = model.adds_dummy_prefix ? Leading::kDropOne : Leading::kKeep;
  parts.decode = DecodeSpec::sentencepiece(std::string(kMark), model.removes_extra_spaces ? Leading::kDropAll : one);
  parts.decode.unknown_text = std::string(model.unknown_surface);
  return parts;
}

}  // namespace

Result<TokenizerParts> read_sentencepiece(std::span<const std::byte> bytes) {
  VITRO_TRY_ASSIGN(const SentencePieceModel model, read_sentencepiece_model(bytes));
  Result<TokenizerParts> parts = make_parts(model);
  if (!parts) return fail(parts.error().in("[sentencepiece]"));
  return parts;
}

}  // namespace vitro
