// Vocabularies in files of their own, read as the class that transformers would make of them: GPT-2's vocabulary and
// merges (vocab.json and merges.txt, or encoder.json and vocab.bpe).
#include <algorithm>
#include <array>

#include "formats/json.h"
#include "formats/quote_name.h"
#include "tokens/load_sources.h"
#include "tokens/merge_reader.h"
#include "tokens/split_families.h"
#include "tokens/vocabulary_builder.h"

namespace vitro {
namespace {

constexpr size_t kMaxFileBytes = size_t{64} << 20;

/// How a class cuts texts, and its special tokens where no file names them.
struct Gpt2Class {
  std::string_view name;
  std::string_view family;  ///< of split_families.h
  std::array<std::pair<std::string_view, std::string_view>, 7> special;
  bool wraps = false;  ///< cls_token and sep_token around a text (RobertaProcessing)
};

constexpr std::array<Gpt2Class, 3> kClasses = {{
    {"GPT2Tokenizer",
     "gpt-2",
     {{{"bos_token", "<|endoftext|>"}, {"eos_token", "<|endoftext|>"}, {"unk_token", "<|endoftext|>"}}}},
    {"Qwen2Tokenizer",
     "qwen2",
     {{{"eos_token", "<|endoftext|>"}, {"unk_token", "<|endoftext|>"}, {"pad_token", "<|endoftext|>"}}}},
    {"RobertaTokenizer",
     "gpt-2",
     {{{"bos_token", "<s>"},
       {"eos_token", "</s>"},
       {"unk_token", "<unk>"},
       {"sep_token", "</s>"},
       {"pad_token", "<pad>"},
       {"cls_token", "<s>"},
       {"mask_token", "<mask>"}}},
     true},
}};

Result<const Gpt2Class*> find_class(std::string_view name) {
  if (name.empty()) return &kClasses[0];
  const auto* found = std::find_if(kClasses.begin(), kClasses.end(), [&](const auto& c) { return c.name == name; });
  if (found != kClasses.end()) return found;
  return fail(ErrorCode::kUnsupported, "a vocabulary with merges of the tokenizer class {}; known are {}, {} and {}",
              quote_name(name), kClasses[0].name, kClasses[1].name, kClasses[2].name);
}

Status read_vocabulary(std::string_view text, VocabularyBuilder& out) {
  if (text.size() > kMaxFileBytes) return fail(ErrorCode::kUnsupported, "a vocabulary of {} bytes", text.size());
  VITRO_TRY_ASSIGN(const Value document,
                   parse_json(text, "vocabulary", {.max_depth = 2, .max_values = kMaxVocabulary}));
  if (document.as_object() == nullptr) return fail(ErrorCode::kCorrupt, "the vocabulary is not an object");
  for (const auto& [piece, id] : *document.as_object()) {
    if (id.as_int() == nullptr) return fail(ErrorCode::kCorrupt, "the id of {} is no integer", quote_name(piece));
    VITRO_TRY(out.add(piece, *id.as_int()));
  }
  return {};
}

/// The lines of a merges file without its version and without empty ones at the end.
Result<std::vector<std::string_view>> merge_lines(std::string_view text) {
  if (text.size() > kMaxFileBytes) return fail(ErrorCode::kUnsupported, "merges of {} bytes", text.size());
  std::vector<std::string_view> out;
  for (size_t pos = 0; pos < text.size();) {
    const size_t end = std::min(text.find('\n', pos), text.size());
    std::string_view line = text.substr(pos, end - pos);
    if (line.ends_with('\r')) line.remove_suffix(1);
    pos = end + 1;
    if (!line.empty() && !line.starts_with("#version")) out.push_back(line);
  }
  return out;
}

TokenizerSettings with_defaults(TokenizerSettings settings, const Gpt2Class& kind) {
  for (const auto& [name, content] : kind.special) {
    if (name.empty() || !settings.special_or(name, "").empty()) continue;
    settings.special.emplace_back(name, AddedToken{.content = std::string(content), .is_special = true});
  }
  return settings;
}

Status add_steps(const Gpt2Class& kind, const TokenizerSettings& settings, TokenizerParts& parts) {
  const SplitFamily* family = find_split_family(kind.family);
  if (family->normalizes_nfc) parts.normalizers.emplace_back(NormalFormStep{});
  if (settings.adds_prefix_space.value_or(false)) {
    parts.pre_tokenizers.emplace_back(PrependStep{.prefix = " ", .unless_present = true});
  }
  for (const std::string_view pattern : family->patterns) {
    VITRO_TRY_ASSIGN(SplitPattern compiled, SplitPattern::compile(pattern));
    parts.pre_tokenizers.emplace_back(SplitStep{std::move(compiled), SplitBehavior::kIsolated, false});
  }
  return {};
}

/// Ids around a text: what the class says, then what add_bos_token and add_eos_token say.
Status add_special(const Gpt2Class& kind, const TokenizerSettings& settings, TokenizerParts& parts) {
  AddSpecial out;
  if (kind.wraps) {
    parts.post_steps.emplace_back(TrimOffsets{settings.adds_prefix_space.value_or(false)});
    out.before.push_back(parts.vocabulary.find(settings.special_or("cls_token", "")));
    out.after.push_back(parts.vocabulary.find(settings.special_or("sep_token", "")));
  } else {
    if (settings.adds_bos.value_or(false)) out.before.push_back(parts.bos_id);
    if (settings.adds_eos.value_or(false)) out.after.push_back(parts.eos_id);
  }
  const auto is_missing = [](TokenId id) { return id < 0; };
  if (std::any_of(out.before.begin(), out.before.end(), is_missing) ||
      std::any_of(out.after.begin(), out.after.end(), is_missing)) {
    return fail(ErrorCode::kCorrupt, "a token is to be put around texts, but no file names it");
  }
  if (!out.before.empty() || !out.after.empty()) parts.post_steps.emplace_back(std::move(out));
  return {};
}

Result<TokenizerParts> read_gpt2(std::string_view vocabulary, std::string_view merges, const TokenizerSettings& given) {
  VITRO_TRY_ASSIGN(const Gpt2Class* kind, find_class(given.tokenizer_class));
  const TokenizerSettings settings = with_defaults(given, *kind);
  VocabularyBuilder builder;
  VITRO_TRY(read_vocabulary(vocabulary, builder));
  VITRO_TRY_ASSIGN(const std::vector<std::string_view> lines, merge_lines(merges));
  TokenizerParts parts;
  VITRO_TRY(builder.finish(settings, parts));
  BpeSpec spec;
  VITRO_TRY_ASSIGN(spec.merges, read_merge_lines(lines, parts.vocabulary));
  parts.model = std::move(spec);
  parts.model_name = "byte-level BPE";
  VITRO_TRY(add_steps(*kind, settings, parts));
  VITRO_TRY(add_special(*kind, settings, parts));
  parts.decode = DecodeSpec::byte_level();
  parts.decode.keeps_added_pieces = true;
  return parts;
}

}  // namespace

Result<TokenizerParts> read_vocab_and_merges(std::string_view vocabulary, std::string_view merges,
                                             const TokenizerSettings& settings) {
  Result<TokenizerParts> parts = read_gpt2(vocabulary, merges, settings);
  if (!parts) return fail(parts.error().in("[vocabulary and merges]"));
  return parts;
}

}  // namespace vitro
