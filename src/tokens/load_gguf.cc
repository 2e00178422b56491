// GGUF vocabularies (tokenizer.ggml.*) -> TokenizerParts. Models "gpt2" (byte-level BPE with merges), "llama"
// (SentencePiece BPE with scores), "t5" (unigram) and "bert" (WordPiece); defaults of missing keys are llama.cpp's.
#include <cmath>
#include <limits>

#include "formats/quote_name.h"
#include "tokens/gguf_keys.h"
#include "tokens/merge_reader.h"
#include "tokens/pipeline_tokenizer.h"
#include "tokens/split_families.h"

namespace vitro {
namespace {

constexpr std::string_view kSpaceMark = "\u2581";

/// As SentencePiece numbers kinds; 0 is a normal one too.
Result<TokenKind> kind_of(int64_t type) {
  if (type == 0) return TokenKind::kNormal;
  if (const auto kind = sentencepiece_kind(type)) return *kind;
  return fail(ErrorCode::kCorrupt, "'tokenizer.ggml.token_type' holds {}, known are 0 to 6", type);
}

/// Optional per-token arrays, checked against the number of tokens.
struct Columns {
  const GgufArray* types = nullptr;
  const GgufArray* scores = nullptr;
};

Result<Columns> read_columns(const VocabularyKeys& keys, uint64_t n_tokens) {
  Columns out;
  VITRO_TRY_ASSIGN(out.types, keys.array("token_type"));
  VITRO_TRY_ASSIGN(out.scores, keys.array("scores"));
  if (out.types != nullptr && (!out.types->is_integer() || out.types->count < n_tokens)) {
    return fail(ErrorCode::kCorrupt, "'tokenizer.ggml.token_type' must be {} integers, has {} elements", n_tokens,
                out.types->count);
  }
  if (out.scores != nullptr && (!out.scores->is_real() || out.scores->count < n_tokens)) {
    return fail(ErrorCode::kCorrupt, "'tokenizer.ggml.scores' must be {} floats, has {} elements", n_tokens,
                out.scores->count);
  }
  return out;
}

Result<Vocabulary> read_vocabulary(const VocabularyKeys& keys) {
  VITRO_TRY_ASSIGN(const GgufArray* pieces, keys.strings("tokens"));
  VITRO_TRY_ASSIGN(const Columns columns, read_columns(keys, pieces->count));
  VITRO_TRY_ASSIGN(Vocabulary out, Vocabulary::with_room(pieces->strings.size(), 0));
  for (size_t i = 0; i < pieces->strings.size(); ++i) {
    TokenKind kind = TokenKind::kNormal;
    if (columns.types != nullptr) {
      VITRO_TRY_ASSIGN(kind, kind_of(columns.types->int_at(i)));
    }
    const double score = columns.scores == nullptr ? 0 : columns.scores->real_at(i);
    if (std::isnan(score)) return fail(ErrorCode::kCorrupt, "the score of token {} is not a number", i);
    if (kind == TokenKind::kByte && byte_token_value(pieces->strings[i]) < 0) {
      return fail(ErrorCode::kCorrupt, "byte token {} is written {}, not <0x00> to <0xFF>", i,
                  quote_name(pieces->strings[i]));
    }
    VITRO_TRY(out.add(pieces->strings[i], kind, static_cast<float>(score)));
  }
  return out;
}

Result<MergeTable> read_merges(const VocabularyKeys& keys, const Vocabulary& vocabulary) {
  VITRO_TRY_ASSIGN(const GgufArray* merges, keys.strings("merges"));
  return read_merge_lines(merges->strings, vocabulary);
}

/// Control, unknown and user-defined entries are cut out of texts; the first two only where special tokens are parsed.
void mark_added(TokenizerParts& parts) {
  parts.is_special.resize(parts.vocabulary.size());
  for (TokenId id = 0; parts.vocabulary.has(id); ++id) {
    const TokenKind kind = parts.vocabulary.kind(id);
    const bool is_special = kind == TokenKind::kControl || kind == TokenKind::kUnknown;
    parts.is_special[static_cast<size_t>(id)] = is_special;
    if (is_special || kind == TokenKind::kUserDefined) {
      parts.added.push_back({.id = id, .content = std::string(parts.vocabulary.piece(id)), .is_special = is_special});
    }
  }
}

/// Where a key is missing: the model kind's defaults.
struct Defaults {
  TokenId bos = -1;
  TokenId eos = -1;
  bool adds_bos = false;
  bool adds_eos = false;
};

Status read_special(const VocabularyKeys& keys, const Defaults& defaults, TokenizerParts& parts) {
  VITRO_TRY_ASSIGN(parts.bos_id, keys.token("bos_token_id", defaults.bos, parts.vocabulary));
  VITRO_TRY_ASSIGN(parts.eos_id, keys.token("eos_token_id", defaults.eos, parts.vocabulary));
  VITRO_TRY_ASSIGN(const bool adds_bos, keys.flag("add_bos_token", defaults.adds_bos));
  VITRO_TRY_ASSIGN(const bool adds_eos, keys.flag("add_eos_token", defaults.adds_eos));
  AddSpecial special;
  if (adds_bos) special.before.push_back(parts.bos_id);
  if (adds_eos) special.after.push_back(parts.eos_id);
  if ((adds_bos && parts.bos_id < 0) || (adds_eos && parts.eos_id < 0)) {
    return fail(ErrorCode::kCorrupt, "'tokenizer.ggml.add_{0}_token' is set, but there is no '{0}_token_id'",
                adds_bos && parts.bos_id < 0 ? "bos" : "eos");
  }
  parts.post_steps.emplace_back(std::move(special));
  return {};
}

Result<const SplitFamily*> read_family(const VocabularyKeys& keys) {
  VITRO_TRY_ASSIGN(const std::string_view* name, keys.string("pre"));
  if (name == nullptr) {
    return fail(
        ErrorCode::kUnsupported,
        "the file does not name its pre-tokenizer ('tokenizer.ggml.pre' is missing), and guessing one would give wrong "
        "tokens; convert the model again");
  }
  const SplitFamily* family = find_split_family(*name);
  if (family == nullptr) return fail(ErrorCode::kUnsupported, "pre-tokenizer {} is not known", quote_name(*name));
  return family;
}

Status add_splits(std::span<const std::string_view> patterns, TokenizerParts& parts) {
  for (const std::string_view pattern : patterns) {
    VITRO_TRY_ASSIGN(SplitPattern compiled, SplitPattern::compile(pattern));
    parts.pre_tokenizers.emplace_back(SplitStep{std::move(compiled), SplitBehavior::kIsolated, false});
  }
  return {};
}

Status add_family(const SplitFamily& family, TokenizerParts& parts) {
  if (family.normalizes_nfc) parts.normalizers.emplace_back(NormalFormStep{});
  VITRO_TRY(add_splits(family.patterns, parts));
  parts.pre_tokenizers.emplace_back(ByteLevelStep{});
  return add_splits(family.patterns_of_bytes, parts);
}

Status add_byte_level(const VocabularyKeys& keys, TokenizerParts& parts) {
  VITRO_TRY_ASSIGN(const SplitFamily* family, read_family(keys));
  BpeSpec spec{.merges = MergeTable(), .options = {.alphabet = BpeAlphabet::kCharacters}};
  VITRO_TRY_ASSIGN(spec.merges, read_merges(keys, parts.vocabulary));
  VITRO_TRY(read_special(keys, {.adds_bos = family->adds_bos}, parts));
  VITRO_TRY_ASSIGN(const bool adds_space, keys.flag("add_space_prefix", false));
  if (adds_space) return fail(ErrorCode::kUnsupported, "'tokenizer.ggml.add_space_prefix' for a byte-level vocabulary");
  parts.model_name = "byte-level BPE";
  spec.options.takes_whole_words = family->takes_whole_words;
  parts.model = std::move(spec);
  VITRO_TRY(add_family(*family, parts));
  parts.decode = DecodeSpec::byte_level();
  return {};
}

Status add_sentencepiece(const VocabularyKeys& keys, TokenizerParts& parts) {
  VITRO_TRY_ASSIGN(const GgufArray* scores, keys.array("scores"));
  if (scores == nullptr) return fail(ErrorCode::kCorrupt, "key 'tokenizer.ggml.scores' is missing");
  VITRO_TRY(read_special(keys, {.bos = 1, .eos = 2, .adds_bos = true}, parts));
  VITRO_TRY_ASSIGN(const bool adds_space, keys.flag("add_space_prefix", true));
  BpeOptions options{.alphabet = BpeAlphabet::kCharacters, .order = BpeOrder::kScores, .has_byte_fallback = true};
  VITRO_TRY_ASSIGN(options.unknown_id, keys.token("unknown_token_id", 0, parts.vocabulary));
  parts.model = BpeSpec{MergeTable(), options};
  parts.model_name = "SentencePiece BPE";
  if (adds_space) parts.normalizers.emplace_back(PrependStep{.prefix = std::string(kSpaceMark)});
  parts.normalizers.emplace_back(ReplaceStep{" ", std::string(kSpaceMark)});
  using Leading = SentencePieceDecode::Leading;
  parts.decode = DecodeSpec::sentencepiece(std::string(kSpaceMark), adds_space ? Leading::kDropOne : Leading::kKeep);
  return {};
}

/// "precompiled_charsmap": bytes, as signed or unsigned numbers.
Result<PrecompiledCharsmap> read_charsmap(const VocabularyKeys& keys) {
  VITRO_TRY_ASSIGN(const GgufArray* bytes, keys.array("precompiled_charsmap"));
  if (bytes == nullptr || bytes->count == 0) return PrecompiledCharsmap();
  if (bytes->element != GgufType::kU8 && bytes->element != GgufType::kI8) {
    return fail(ErrorCode::kCorrupt, "'tokenizer.ggml.precompiled_charsmap' does not hold bytes");
  }
  return PrecompiledCharsmap::make(bytes->text());
}

Status add_unigram(const VocabularyKeys& keys, TokenizerParts& parts) {
  VITRO_TRY(read_special(keys, {.eos = 1, .adds_eos = true}, parts));
  VITRO_TRY_ASSIGN(PrecompiledCharsmap charsmap, read_charsmap(keys));
  SentencePieceNormalizer::Rules rules;
  VITRO_TRY_ASSIGN(rules.adds_dummy_prefix, keys.flag("add_space_prefix", false));
  VITRO_TRY_ASSIGN(rules.removes_extra_spaces, keys.flag("remove_extra_whitespaces", false));
  UnigramSpec spec{.rules = UnigramRules::kSentencePiece, .scores = {}};
  VITRO_TRY_ASSIGN(spec.unknown_id, keys.token("unknown_token_id", 2, parts.vocabulary));
  for (TokenId id = 0; parts.vocabulary.has(id); ++id) {
    spec.scores.push_back(parts.vocabulary.score(id));
    // SentencePiece has byte pieces only where it falls back on them.
    if (parts.vocabulary.kind(id) == TokenKind::kByte) spec.has_byte_fallback = true;
  }
  parts.model = std::move(spec);
  parts.model_name = "SentencePiece unigram";
  parts.normalizers.emplace_back(SentencePieceStep{SentencePieceNormalizer(rules, std::move(charsmap), SymbolSet())});
  using Leading = SentencePieceDecode::Leading;
  const Leading one = rules.adds_dummy_prefix ? Leading::kDropOne : Leading::kKeep;
  parts.decode =
      DecodeSpec::sentencepiece(std::string(kSpaceMark), rules.removes_extra_spaces ? Leading::kDropAll : one);
  return {};
}

using AddModel = Status (*)(const VocabularyKeys&, TokenizerParts&);

Result<AddModel> find_model(const VocabularyKeys& keys) {
  VITRO_TRY_ASSIGN(const std::string_view* name, keys.string("model"));
  if (name == nullptr || *name == "no_vocab" || *name == "none") {
    return fail(ErrorCode::kNotFound, "the file carries no vocabulary; give ids instead of text, or a tokenizer file");
  }
  if (*name == "gpt2") return add_byte_level;
  if (*name == "llama") return add_sentencepiece;
  if (*name == "t5") return add_unigram;
  if (*name == "bert") return add_gguf_wordpiece;
  return fail(ErrorCode::kUnsupported, "tokenizer model {} is not known, only 'gpt2', 'llama', 't5' and 'bert'",
              quote_name(*name));
}

Result<TokenizerParts> read_parts(const GgufFile& file) {
  const VocabularyKeys keys(file);
  VITRO_TRY_ASSIGN(const AddModel add_model, find_model(keys));
  TokenizerParts parts;
  VITRO_TRY_ASSIGN(parts.vocabulary, read_vocabulary(keys));
  mark_added(parts);
  VITRO_TRY(add_model(keys, parts));
  parts.decode.keeps_added_pieces = true;
  return parts;
}

}  // namespace

Result<TokenizerParts> read_gguf_vocabulary(const GgufFile& file) {
  Result<TokenizerParts> parts = read_parts(file);
  if (!parts) return fail(parts.error().in("[gguf] vocabulary"));
  return parts;
}

Result<std::unique_ptr<Tokenizer>> load_gguf_tokenizer(const GgufFile& file) {
  VITRO_TRY_ASSIGN(TokenizerParts parts, read_gguf_vocabulary(file));
  return PipelineTokenizer::make(std::move(parts));
}

}  // namespace vitro
