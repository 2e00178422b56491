#include "tokens/train/train_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "formats/json.h"
#include "text/byte_level.h"
#include "tokens/json_components.h"
#include "tokens/split_families.h"
#include "tokens/train/bpe_trainer.h"
#include "tokens/train/save_tokenizer_json.h"
#include "tokens/train/unigram_trainer.h"
#include "tokens/train/wordpiece_trainer.h"

namespace vitro {
namespace {

constexpr uint64_t kMinFrequency = 2;        // as the reference's ready-made tokenizers
constexpr size_t kWordPieceAlphabet = 1000;  // likewise
constexpr std::string_view kWordPieceUnknown = "[UNK]";

struct NamedJson {
  std::string_view name;
  std::string_view json;
};

constexpr std::array<NamedJson, 8> kNormalizers = {{
    {"none", "null"},
    {"nfc", R"({"type": "NFC"})"},
    {"nfd", R"({"type": "NFD"})"},
    {"nfkc", R"({"type": "NFKC"})"},
    {"nfkd", R"({"type": "NFKD"})"},
    {"lowercase", R"({"type": "Lowercase"})"},
    {"bert",
     R"({"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true})"},
    {"bert-cased",
     R"({"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": false})"},
}};

constexpr std::string_view kByteLevel =
    R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true})";
constexpr std::string_view kByteLevelAlone =
    R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false})";
constexpr std::string_view kMetaspace =
    R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true})";
constexpr std::string_view kWordPieceDecoder = R"({"type": "WordPiece", "prefix": "##", "cleanup": true})";

constexpr std::array<std::string_view, 3> kModelNames = {"bpe", "wordpiece", "unigram"};

std::string_view name_of(TrainedModel model) { return kModelNames[static_cast<size_t>(model)]; }

std::string_view default_normalizer(const TokenizerTraining& training) {
  if (training.model == TrainedModel::kWordPiece) return "bert";
  if (training.model == TrainedModel::kUnigram) return "nfkc";
  const SplitFamily* family = find_split_family(training.pattern);
  return family != nullptr && family->normalizes_nfc ? "nfc" : "none";
}

Result<std::string> normalizer_json(const TokenizerTraining& training) {
  const std::string_view wanted = training.normalizer.empty() ? default_normalizer(training) : training.normalizer;
  for (const NamedJson& entry : kNormalizers) {
    if (entry.name == wanted) return std::string(entry.json);
  }
  return fail(ErrorCode::kInvalidArgument, "'{}' is no normalizer; there are {}", wanted,
              fmt::join(normalizer_names(), ", "));
}

/// True for "llama-bpe", false for anything that could only be meant as an expression.
bool looks_like_name(std::string_view pattern) {
  return pattern.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.") == std::string_view::npos;
}

std::string split_json(std::string_view regex) {
  return fmt::format(R"({{"type": "Split", "pattern": {{"Regex": {}}}, "behavior": "Isolated", "invert": false}})",
                     json_quote(regex));
}

Result<std::string> split_sequence(const std::string& pattern) {
  if (pattern.empty() || pattern == "gpt2") return std::string(kByteLevel);
  std::string splits;
  if (const SplitFamily* family = find_split_family(pattern)) {
    for (const std::string_view regex : family->patterns) splits += split_json(regex) + ", ";
  } else if (looks_like_name(pattern)) {
    return fail(ErrorCode::kInvalidArgument,
                "'{}' is no pattern that has a name here (gpt2, llama-bpe, qwen2, ...); an expression that splits text "
                "has other characters",
                pattern);
  } else {
    VITRO_TRY(SplitPattern::compile(pattern));
    splits = split_json(pattern) + ", ";
  }
  return fmt::format(R"({{"type": "Sequence", "pretokenizers": [{}{}]}})", splits, kByteLevelAlone);
}

/// Options that the model would ignore.
Status check_options(const TokenizerTraining& training) {
  const bool is_bpe = training.model == TrainedModel::kBpe;
  const bool is_unigram = training.model == TrainedModel::kUnigram;
  const std::array<std::pair<bool, std::string_view>, 4> useless = {{
      {!training.pattern.empty() && !is_bpe, "a pattern"},
      {training.min_frequency && is_unigram, "a least frequency"},
      {training.limit_alphabet && training.model != TrainedModel::kWordPiece, "a limited alphabet"},
      {training.max_token_length && training.model == TrainedModel::kWordPiece, "a longest token"},
  }};
  for (const auto& [is_set, what] : useless) {
    if (is_set) return fail(ErrorCode::kInvalidArgument, "{} means nothing to {}", what, name_of(training.model));
  }
  for (const std::string& token : training.special_tokens) {
    if (token.empty()) return fail(ErrorCode::kInvalidArgument, "a special token is empty");
  }
  return {};
}

std::vector<char32_t> byte_alphabet() {
  std::vector<char32_t> out;
  for (int byte = 0; byte < 256; ++byte) out.push_back(byte_level_char(static_cast<uint8_t>(byte)));
  return out;
}

/// Without twins, the first of each kept.
std::vector<std::string> special_tokens_of(const TokenizerTraining& training) {
  std::vector<std::string> given = training.special_tokens;
  if (training.model == TrainedModel::kWordPiece) {
    if (given.empty()) given = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    if (std::find(given.begin(), given.end(), kWordPieceUnknown) == given.end()) {
      given.insert(given.begin(), std::string(kWordPieceUnknown));
    }
  }
  std::vector<std::string> out;
  for (std::string& token : given) {
    if (std::find(out.begin(), out.end(), token) == out.end()) out.push_back(std::move(token));
  }
  return out;
}

class TokenizerTrainer {
 public:
  TokenizerTrainer(const TokenizerTraining& training, const TrainingProgress& progress)
      : training_(training), progress_(progress), special_(special_tokens_of(training)) {}

  Result<TrainedTokenizer> train(const std::vector<std::filesystem::path>& files) {
    VITRO_TRY_ASSIGN(const TokenizerRecipe recipe, make_recipe(training_));
    VITRO_TRY_ASSIGN(const WordSplitter splitter, read_splitter(recipe));
    VITRO_TRY_ASSIGN(const WordCounts words, count_words(files, splitter, progress_));
    if (words.size() == 0) return fail(ErrorCode::kInvalidArgument, "there is no word in the files to learn from");
    out_.n_words = words.total();
    out_.n_distinct = words.size();
    VITRO_TRY_ASSIGN(const std::string model, train_model(words));
    out_.json = to_tokenizer_json(recipe, numbered_, model);
    return std::move(out_);
  }

 private:
  Result<std::string> train_model(const WordCounts& words) {
    if (training_.model == TrainedModel::kUnigram) return train_unigram_model(words);
    number_special(0);
    BpeTrainerOptions options{.vocab_size = training_.vocab_size,
                              .min_frequency = training_.min_frequency.value_or(kMinFrequency),
                              .special_tokens = special_};
    if (training_.model == TrainedModel::kWordPiece) {
      options.limit_alphabet = training_.limit_alphabet.value_or(kWordPieceAlphabet);
      VITRO_TRY_ASSIGN(const std::vector<std::string> vocabulary, train_wordpiece(words, options, progress_));
      out_.n_pieces = vocabulary.size();
      return to_model_json(vocabulary, kWordPieceUnknown);
    }
    options.initial_alphabet = byte_alphabet();
    if (training_.max_token_length) options.max_token_length = *training_.max_token_length;
    VITRO_TRY_ASSIGN(const TrainedBpe bpe, train_bpe(words, options, progress_));
    out_.n_pieces = bpe.pieces.size();
    out_.n_merges = bpe.merges.size();
    return to_model_json(bpe);
  }

  Result<std::string> train_unigram_model(const WordCounts& words) {
    UnigramTrainerOptions options{.vocab_size = training_.vocab_size, .special_tokens = special_};
    if (training_.max_token_length) options.max_piece_length = *training_.max_token_length;
    VITRO_TRY_ASSIGN(const TrainedUnigram unigram, train_unigram(words, options, progress_));
    const bool is_unknown_first =
        unigram.pieces.size() > special_.size() && !special_.empty() && unigram.pieces[0].text != special_[0];
    number_special(is_unknown_first ? 1 : 0);
    out_.n_pieces = unigram.pieces.size();
    out_.loss = unigram.loss;
    return to_model_json(unigram);
  }

  void number_special(TokenId first_id) {
    for (const std::string& token : special_) numbered_.push_back({token, first_id++});
  }

  const TokenizerTraining& training_;
  const TrainingProgress& progress_;
  std::vector<std::string> special_;
  std::vector<SpecialToken> numbered_;
  TrainedTokenizer out_;
};

}  // namespace

std::optional<TrainedModel> trained_model_from_name(std::string_view name) {
  const auto* found = std::find(kModelNames.begin(), kModelNames.end(), name);
  if (found == kModelNames.end()) return std::nullopt;
  return static_cast<TrainedModel>(found - kModelNames.begin());
}

std::vector<std::string_view> normalizer_names() {
  std::vector<std::string_view> out;
  for (const NamedJson& entry : kNormalizers) out.push_back(entry.name);
  return out;
}

Result<TokenizerRecipe> make_recipe(const TokenizerTraining& training) {
  VITRO_TRY(check_options(training));
  TokenizerRecipe out;
  VITRO_TRY_ASSIGN(out.normalizer, normalizer_json(training));
  switch (training.model) {
    case TrainedModel::kBpe: {
      VITRO_TRY_ASSIGN(out.pre_tokenizer, split_sequence(training.pattern));
      out.decoder = kByteLevel;
      break;
    }
    case TrainedModel::kWordPiece:
      out.pre_tokenizer = R"({"type": "BertPreTokenizer"})";
      out.decoder = kWordPieceDecoder;
      break;
    case TrainedModel::kUnigram:
      out.pre_tokenizer = kMetaspace;
      out.decoder = kMetaspace;
      break;
  }
  return out;
}

Result<WordSplitter> read_splitter(const TokenizerRecipe& recipe) {
  WordSplitter out;
  VITRO_TRY_ASSIGN(const Value normalizer, parse_json(recipe.normalizer, "normalizer"));
  VITRO_TRY(read_normalizer(&normalizer, "normalizer", out.normalizers));
  VITRO_TRY_ASSIGN(const Value pre_tokenizer, parse_json(recipe.pre_tokenizer, "pre_tokenizer"));
  VITRO_TRY(read_pre_tokenizer(&pre_tokenizer, "pre_tokenizer", out.pre_tokenizers));
  return out;
}

Result<TrainedTokenizer> train_tokenizer(const std::vector<std::filesystem::path>& files,
                                         const TokenizerTraining& training, const TrainingProgress& progress) {
  return TokenizerTrainer(training, progress).train(files);
}

}  // namespace vitro
