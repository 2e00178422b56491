// BERT's vocabularies: vocab.txt, one piece a line, and the GGUF model "bert", which writes "\u2581x" for a piece that
// begins a word and "x" for one that continues it. The pipeline around them is that of BertTokenizer.
#include <algorithm>
#include <array>

#include "formats/quote_name.h"
#include "tokens/gguf_keys.h"
#include "tokens/json_components.h"
#include "tokens/load_sources.h"
#include "tokens/vocabulary_builder.h"

namespace vitro {
namespace {

constexpr size_t kMaxFileBytes = size_t{64} << 20;
constexpr std::string_view kMark = "\u2581";
constexpr std::string_view kContinues = "##";

constexpr std::array<std::string_view, 5> kClasses = {"BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer",
                                                      "MobileBertTokenizer", "ConvBertTokenizer"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kSpecial = {{{"unk_token", "[UNK]"},
                                                                                    {"sep_token", "[SEP]"},
                                                                                    {"pad_token", "[PAD]"},
                                                                                    {"cls_token", "[CLS]"},
                                                                                    {"mask_token", "[MASK]"}}};

struct BertOptions {
  bool lowers_case = true;
  bool splits_chinese = true;
  bool strips_accents = true;
};

/// The components, as a tokenizer.json would name them.
Status add_pipeline(const BertOptions& options, TokenizerParts& parts) {
  const Value normalizer(Value::Object{{"type", Value(std::string("BertNormalizer"))},
                                       {"clean_text", Value(true)},
                                       {"handle_chinese_chars", Value(options.splits_chinese)},
                                       {"strip_accents", Value(options.strips_accents)},
                                       {"lowercase", Value(options.lowers_case)}});
  const Value pre_tokenizer(Value::Object{{"type", Value(std::string("BertPreTokenizer"))}});
  VITRO_TRY(read_normalizer(&normalizer, "normalizer", parts.normalizers));
  VITRO_TRY(read_pre_tokenizer(&pre_tokenizer, "pre_tokenizer", parts.pre_tokenizers));
  parts.decode.steps = {WordPieceDecode{std::string(kContinues), true}};
  parts.model_name = "WordPiece";
  return {};
}

/// Lines without their ends; of equal ones the last counts, the others are entries that nothing finds.
Status read_lines(std::string_view text, VocabularyBuilder& out) {
  if (text.size() > kMaxFileBytes) return fail(ErrorCode::kUnsupported, "{} bytes", text.size());
  for (size_t pos = 0, id = 0; pos < text.size(); ++id) {
    const size_t end = std::min(text.find('\n', pos), text.size());
    std::string_view line = text.substr(pos, end - pos);
    if (line.ends_with('\r')) line.remove_suffix(1);
    pos = end + 1;
    if (!line.empty()) VITRO_TRY(out.add(line, static_cast<int64_t>(id)));
  }
  if (out.size() == 0) return fail(ErrorCode::kCorrupt, "no pieces");
  return {};
}

Status check_class(std::string_view name) {
  if (name.empty() || std::find(kClasses.begin(), kClasses.end(), name) != kClasses.end()) return {};
  return fail(ErrorCode::kUnsupported, "a vocabulary of lines of the tokenizer class {}; known is {}", quote_name(name),
              kClasses[0]);
}

Result<TokenizerParts> read_bert(std::string_view text, TokenizerSettings settings) {
  VITRO_TRY(check_class(settings.tokenizer_class));
  for (const auto& [name, content] : kSpecial) {
    if (!settings.special_or(name, "").empty()) continue;
    settings.special.emplace_back(name, AddedToken{.content = std::string(content), .is_special = true});
  }
  VocabularyBuilder builder;
  VITRO_TRY(read_lines(text, builder));
  const size_t n_own = builder.size();
  TokenizerParts parts;
  VITRO_TRY(builder.finish(settings, parts));
  WordPieceSpec spec;
  spec.unknown_id = parts.vocabulary.find(settings.special_or("unk_token", ""));
  spec.is_added_only.resize(parts.vocabulary.size());
  std::fill(spec.is_added_only.begin() + static_cast<std::ptrdiff_t>(n_own), spec.is_added_only.end(), true);
  parts.model = std::move(spec);
  const bool lowers_case = settings.lowers_case.value_or(true);
  VITRO_TRY(add_pipeline({.lowers_case = lowers_case,
                          .splits_chinese = settings.splits_chinese.value_or(true),
                          .strips_accents = settings.strips_accents.value_or(lowers_case)},
                         parts));
  parts.post_steps.emplace_back(AddSpecial{.before = {parts.vocabulary.find(settings.special_or("cls_token", ""))},
                                           .after = {parts.vocabulary.find(settings.special_or("sep_token", ""))}});
  return parts;
}

/// "\u2581x" -> "x", "x" -> "##x"; "[X]" stays.
std::string bert_piece(std::string_view piece) {
  if (piece.starts_with(kMark)) return std::string(piece.substr(kMark.size()));
  const bool is_bracketed = piece.starts_with('[') && piece.ends_with(']');
  return is_bracketed ? std::string(piece) : std::string(kContinues) + std::string(piece);
}

Status rewrite_vocabulary(Vocabulary& vocabulary) {
  size_t n_bytes = 0;
  for (TokenId id = 0; vocabulary.has(id); ++id) n_bytes += vocabulary.piece(id).size() + kContinues.size();
  VITRO_TRY_ASSIGN(Vocabulary out, Vocabulary::with_room(vocabulary.size(), n_bytes));
  for (TokenId id = 0; vocabulary.has(id); ++id) {
    if (vocabulary.piece(id).empty() || vocabulary.piece(id) == kMark) {
      out.add_hole();
    } else {
      VITRO_TRY(out.add(bert_piece(vocabulary.piece(id)), vocabulary.kind(id)));
    }
  }
  vocabulary = std::move(out);
  return {};
}

}  // namespace

Result<TokenizerParts> read_vocab_lines(std::string_view text, const TokenizerSettings& settings) {
  Result<TokenizerParts> parts = read_bert(text, settings);
  if (!parts) return fail(parts.error().in("[vocabulary]"));
  return parts;
}

Status add_gguf_wordpiece(const VocabularyKeys& keys, TokenizerParts& parts) {
  VITRO_TRY(rewrite_vocabulary(parts.vocabulary));
  VITRO_TRY_ASSIGN(const TokenId old_cls, keys.token("cls_token_id", 101, parts.vocabulary));
  VITRO_TRY_ASSIGN(parts.bos_id, keys.token("bos_token_id", old_cls, parts.vocabulary));
  VITRO_TRY_ASSIGN(parts.eos_id, keys.token("seperator_token_id", 102, parts.vocabulary));
  VITRO_TRY_ASSIGN(const bool adds_bos, keys.flag("add_bos_token", true));
  VITRO_TRY_ASSIGN(const bool adds_sep, keys.flag("add_sep_token", true));
  AddSpecial special;
  if (adds_bos) special.before.push_back(parts.bos_id);
  if (adds_sep) special.after.push_back(parts.eos_id);
  if ((adds_bos && parts.bos_id < 0) || (adds_sep && parts.eos_id < 0)) {
    return fail(ErrorCode::kCorrupt, "the vocabulary has no tokens to put around a text");
  }
  parts.post_steps.emplace_back(std::move(special));
  WordPieceSpec spec;
  VITRO_TRY_ASSIGN(spec.unknown_id, keys.token("unknown_token_id", 100, parts.vocabulary));
  parts.model = std::move(spec);
  VITRO_TRY_ASSIGN(const bool lowers_case, keys.flag("normalizer.lowercase", true));
  VITRO_TRY_ASSIGN(const bool strips_accents, keys.flag("normalizer.strip_accents", lowers_case));
  return add_pipeline({.lowers_case = lowers_case, .strips_accents = strips_accents}, parts);
}

}  // namespace vitro
