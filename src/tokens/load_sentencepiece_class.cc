// A SentencePiece model in a folder whose tokenizer_config.json names a class of transformers: read as that class reads
// it, which is not as SentencePiece does: control pieces are found in texts, and each stretch between them is
// encoded for itself.
#include <algorithm>
#include <array>

#include "formats/quote_name.h"
#include "tokens/load_sources.h"
#include "tokens/sentencepiece_model.h"
#include "tokens/vocabulary_builder.h"

namespace vitro {
namespace {

constexpr std::string_view kMark = "\u2581";

struct SpmClass {
  std::string_view name;
  bool has_prefix = false;  ///< a mark goes before the text (its first stretch, or all if legacy)
  std::array<std::pair<std::string_view, std::string_view>, 4> special;
};

constexpr std::array<SpmClass, 3> kClasses = {{
    {"LlamaTokenizer", true, {{{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}}}},
    {"CodeLlamaTokenizer", true, {{{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}}}},
    {"GemmaTokenizer",
     false,
     {{{"bos_token", "<bos>"}, {"eos_token", "<eos>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}}}},
}};

Result<const SpmClass*> find_class(std::string_view name, const SentencePieceModel& model) {
  const auto* found = std::find_if(kClasses.begin(), kClasses.end(), [&](const auto& c) { return c.name == name; });
  if (found == kClasses.end()) {
    return fail(ErrorCode::kUnsupported,
                "a SentencePiece model of the tokenizer class {}; name the .model file itself to encode as "
                "SentencePiece does",
                quote_name(name));
  }
  if (model.type != SentencePieceModel::Type::kBpe || !model.charsmap.empty() || !model.has_byte_fallback) {
    return fail(ErrorCode::kUnsupported, "{} of a model that is not BPE with byte_fallback and no rules", name);
  }
  return found;
}

/// The pieces, and those that are cut out of texts: control and user-defined ones, then what the files name.
Status add_vocabulary(const SentencePieceModel& model, const SpmClass& kind, TokenizerSettings& settings,
                      TokenizerParts& parts) {
  VocabularyBuilder builder;
  std::vector<AddedToken> own;
  for (size_t i = 0; i < model.pieces.size(); ++i) {
    const SentencePieceModel::Piece& piece = model.pieces[i];
    const auto id = static_cast<TokenId>(i);
    VITRO_TRY(builder.add(piece.text, id, piece.kind, piece.score));
    const bool is_control = piece.kind == TokenKind::kControl;
    if (!is_control && piece.kind != TokenKind::kUserDefined) continue;
    own.push_back({.id = id, .content = std::string(piece.text), .is_special = is_control});
  }
  settings.added.insert(settings.added.end(), own.begin(), own.end());
  for (const auto& [name, content] : kind.special) {
    if (name.empty() || !settings.special_or(name, "").empty()) continue;
    settings.special.emplace_back(name, AddedToken{.content = std::string(content), .is_special = true});
  }
  return builder.finish(settings, parts);
}

void add_steps(const SpmClass& kind, const TokenizerSettings& settings, TokenizerParts& parts) {
  const bool has_prefix = settings.adds_prefix_space.value_or(kind.has_prefix);
  parts.pre_tokenizers.emplace_back(ReplaceStep{" ", std::string(kMark)});
  if (kind.has_prefix && has_prefix) {
    parts.pre_tokenizers.emplace_back(PrependStep{
        .prefix = std::string(kMark), .unless_present = true, .at_start_only = !settings.is_legacy.value_or(false)});
  }
  parts.decode.steps = {ReplaceDecode{std::string(kMark), " "}, ByteFallbackDecode{}, FuseDecode{}};
  if (kind.has_prefix && has_prefix) parts.decode.steps.emplace_back(StripDecode{" ", 1, 0});
}

Status add_special(const TokenizerSettings& settings, TokenizerParts& parts) {
  AddSpecial out;
  if (settings.adds_bos.value_or(false)) out.before.push_back(parts.bos_id);
  if (settings.adds_eos.value_or(false)) out.after.push_back(parts.eos_id);
  if ((!out.before.empty() && parts.bos_id < 0) || (!out.after.empty() && parts.eos_id < 0)) {
    return fail(ErrorCode::kCorrupt, "add_bos_token or add_eos_token is set, but the vocabulary has no such token");
  }
  parts.post_steps.emplace_back(std::move(out));
  return {};
}

Result<TokenizerParts> make_parts(std::span<const std::byte> bytes, TokenizerSettings settings) {
  VITRO_TRY_ASSIGN(const SentencePieceModel model, read_sentencepiece_model(bytes));
  VITRO_TRY_ASSIGN(const SpmClass* kind, find_class(settings.tokenizer_class, model));
  TokenizerParts parts;
  VITRO_TRY(add_vocabulary(model, *kind, settings, parts));
  parts.model = BpeSpec{.merges = MergeTable(),
                        .options = {.alphabet = BpeAlphabet::kCharacters,
                                    .order = BpeOrder::kScores,
                                    .has_byte_fallback = true,
                                    .fuses_unknown = true,
                                    .unknown_id = model.unknown_id}};
  parts.model_name = "SentencePiece BPE";
  add_steps(*kind, settings, parts);
  VITRO_TRY(add_special(settings, parts));
  return parts;
}

}  // namespace

Result<TokenizerParts> read_sentencepiece_class(std::span<const std::byte> bytes, const TokenizerSettings& settings) {
  Result<TokenizerParts> parts = make_parts(bytes, settings);
  if (!parts) return fail(parts.error().in("[sentencepiece]"));
  return parts;
}

}  // namespace vitro
