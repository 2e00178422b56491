// Which file of a path holds the tokenizer, and which reader understands it. Of the files in a folder the first of a
// fixed list counts; what a file is, its bytes say, and only where they cannot, its name: a damaged rank file has the
// bytes of something else.
#include <algorithm>
#include <array>
#include <optional>

#include "formats/json.h"
#include "formats/mapped_file.h"
#include "formats/sniff.h"
#include "tokens/load_sources.h"
#include "tokens/pipeline_tokenizer.h"
#include "tokens/rank_encodings.h"
#include "tokens/tokenizer_settings.h"

namespace vitro {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRanksSuffix = ".tiktoken";
constexpr std::string_view kLookedFor =
    "tokenizer.json, tokenizer.model or another *.model, *.tiktoken, vocab.json with merges.txt, encoder.json with "
    "vocab.bpe or alone, vocab.txt";

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// "tokenizer.model", "x.model.v3", but not "x.model.json".
bool is_model_name(std::string_view name) {
  const size_t dot = name.rfind(".model");
  if (dot == std::string_view::npos || dot == 0) return false;
  const std::string_view rest = name.substr(dot + 6);
  return rest.empty() || (rest.starts_with(".v") && rest.find_first_not_of("0123456789", 2) == std::string_view::npos);
}

/// The only file of a folder whose name is wanted; nothing if there is none, an error if there are more.
template <class Wanted>
Result<std::optional<fs::path>> only_file(const fs::path& folder, Wanted&& is_wanted) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (is_wanted(at->path().filename().string()) && is_file(at->path())) found.push_back(at->path());
  }
  if (error) return fail(ErrorCode::kIoError, "{}: cannot be listed: {}", folder.string(), error.message());
  if (found.empty()) return std::nullopt;
  std::sort(found.begin(), found.end());
  if (found.size() == 1) return found[0];
  return fail(ErrorCode::kInvalidArgument, "{} holds {} and {}; name one of them", folder.string(),
              found[0].filename().string(), found[1].filename().string());
}

Result<fs::path> find_in_folder(const fs::path& folder) {
  for (const char* name : {"tokenizer.json", "tokenizer.model"}) {
    if (is_file(folder / name)) return folder / name;
  }
  VITRO_TRY_ASSIGN(std::optional<fs::path> found, only_file(folder, is_model_name));
  if (found) return *found;
  VITRO_TRY_ASSIGN(found, only_file(folder, [](std::string_view name) { return name.ends_with(kRanksSuffix); }));
  if (found) return *found;
  if (is_file(folder / "vocab.json") && is_file(folder / "merges.txt")) return folder / "vocab.json";
  for (const char* name : {"encoder.json", "vocab.txt"}) {
    if (is_file(folder / name)) return folder / name;
  }
  return fail(ErrorCode::kNotFound, "no tokenizer in {}: looked for {}", folder.string(), kLookedFor);
}

/// The merges beside a vocabulary; empty if there are none.
fs::path merges_beside(const fs::path& vocabulary) {
  std::string name = vocabulary.filename().string();
  for (const auto& [from, to] : {std::pair{"vocab.json", "merges.txt"}, std::pair{"encoder.json", "vocab.bpe"}}) {
    if (!name.ends_with(from)) continue;
    const std::string stem = name.substr(0, name.size() - std::string_view(from).size());
    for (const fs::path& path : {vocabulary.parent_path() / (stem + to), vocabulary.parent_path() / to}) {
      if (is_file(path)) return path;
    }
  }
  return {};
}

bool is_vocabulary_name(std::string_view name) {
  return name.ends_with("vocab.json") || name.ends_with("encoder.json");
}

/// What is known besides the file itself.
struct Request {
  bool is_folder = false;  ///< the folder was named: the settings beside the file count
  std::string_view encoding;
};

TokenId find_special(const TokenizerSettings& settings, std::string_view name, const Vocabulary& vocabulary) {
  return vocabulary.find(settings.special_or(name, ""));
}

/// What was read of the file's bytes alone; its error is given the file's name. Whoever was told the name says it
/// himself.
Result<TokenizerParts> named(const MappedFile& file, Result<TokenizerParts> parts) {
  if (!parts) return fail(parts.error().in(file.path().string()));
  return parts;
}

/// tokenizer_config.json beside a tokenizer.json names BOS and EOS; it changes no encoding.
Result<TokenizerParts> read_tokenizer_json_file(const MappedFile& file) {
  VITRO_TRY_ASSIGN(TokenizerParts parts, read_tokenizer_json(file.text(), file.path().string()));
  VITRO_TRY_ASSIGN(const TokenizerSettings settings, read_settings(file.path().parent_path()));
  parts.bos_id = find_special(settings, "bos_token", parts.vocabulary);
  parts.eos_id = find_special(settings, "eos_token", parts.vocabulary);
  return parts;
}

Result<TokenizerParts> read_vocabulary_files(const MappedFile& file) {
  VITRO_TRY_ASSIGN(const MappedFile merges, MappedFile::open(merges_beside(file.path())));
  VITRO_TRY_ASSIGN(const TokenizerSettings settings, read_settings(file.path().parent_path()));
  return named(file, read_vocab_and_merges(file.text(), merges.text(), settings));
}

Result<TokenizerParts> read_gguf_file(const MappedFile& file) {
  VITRO_TRY_ASSIGN(const GgufFile gguf, read_gguf(file.bytes(), file.path().string(), true));
  return named(file, read_gguf_vocabulary(gguf));
}

/// Named itself, a .model is SentencePiece's; in a folder it is what the folder's settings make of it.
Result<TokenizerParts> read_model_file(const MappedFile& file, const Request& request) {
  if (!request.is_folder) return named(file, read_sentencepiece(file.bytes()));
  VITRO_TRY_ASSIGN(const TokenizerSettings settings, read_settings(file.path().parent_path()));
  if (settings.tokenizer_class.empty()) return named(file, read_sentencepiece(file.bytes()));
  return named(file, read_sentencepiece_class(file.bytes(), settings));
}

Result<TokenizerParts> read_vocab_lines_file(const MappedFile& file) {
  VITRO_TRY_ASSIGN(const TokenizerSettings settings, read_settings(file.path().parent_path()));
  return named(file, read_vocab_lines(file.text(), settings));
}

enum class Format : uint8_t {
  kGguf,
  kTokenizerJson,
  kVocabularyAndMerges,
  kJsonRanks,
  kRanks,
  kSentencePiece,
  kVocabLines
};

/// A file of ranks does not say how it cuts texts; all others do.
bool is_ranks(Format format) { return format == Format::kRanks || format == Format::kJsonRanks; }

Result<Format> format_of(const MappedFile& file) {
  const FileKind kind = sniff(file.bytes());
  const std::string name = file.path().filename().string();
  if (kind == FileKind::kGguf) return Format::kGguf;
  // JSON under a rank file's name is a server's answer in its place.
  if (looks_like_ranks(file.text()) || name.ends_with(kRanksSuffix)) return Format::kRanks;
  if (kind == FileKind::kJson && !is_vocabulary_name(name)) return Format::kTokenizerJson;
  if (kind == FileKind::kJson) {
    return merges_beside(file.path()).empty() ? Format::kJsonRanks : Format::kVocabularyAndMerges;
  }
  if (is_model_name(name)) return Format::kSentencePiece;
  if (name.ends_with("vocab.txt")) return Format::kVocabLines;
  return fail(
      ErrorCode::kUnsupported,
      "{}: not a tokenizer that is known: neither a tokenizer.json, a GGUF file, a rank file nor called *.model or "
      "vocab.txt",
      file.path().string());
}

Result<TokenizerParts> read_file(const MappedFile& file, const Request& request) {
  VITRO_TRY_ASSIGN(const Format format, format_of(file));
  if (!request.encoding.empty() && !is_ranks(format)) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: an encoding ({}) is for a file of ranks (tiktoken), and this is none; leave it out",
                file.path().string(), request.encoding);
  }
  const std::string name = file.path().filename().string();
  switch (format) {
    case Format::kGguf:
      return read_gguf_file(file);
    case Format::kTokenizerJson:
      return read_tokenizer_json_file(file);
    case Format::kVocabularyAndMerges:
      return read_vocabulary_files(file);
    case Format::kJsonRanks:
      return named(file, read_json_ranks(file.text(), name, request.encoding));
    case Format::kRanks:
      return named(file, read_ranks(file.text(), name, request.encoding));
    case Format::kSentencePiece:
      return read_model_file(file, request);
    case Format::kVocabLines:
      return read_vocab_lines_file(file);
  }
  return fail(ErrorCode::kInternal, "no reader");
}

/// The file that the path means, opened.
Result<MappedFile> open_file(const fs::path& path) {
  std::error_code ignored;
  fs::path file_path = path;
  if (fs::is_directory(path, ignored)) {
    VITRO_TRY_ASSIGN(file_path, find_in_folder(path));
  }
  if (!fs::exists(file_path, ignored)) {
    return fail(ErrorCode::kNotFound, "no tokenizer at {}: expected a .gguf, a folder or a file with {}", path.string(),
                kLookedFor);
  }
  VITRO_TRY_ASSIGN(MappedFile file, MappedFile::open(file_path));
  VITRO_TRY(check_is_no_stand_in(file.bytes(), file_path.string()));
  return file;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_tokenizer(const fs::path& path, std::string_view encoding) {
  VITRO_TRY_ASSIGN(MappedFile file, open_file(path));
  std::error_code ignored;
  const Request request{.is_folder = fs::is_directory(path, ignored), .encoding = encoding};
  VITRO_TRY_ASSIGN(TokenizerParts parts, read_file(file, request));
  parts.file = std::move(file);
  return PipelineTokenizer::make(std::move(parts));
}

Result<bool> takes_encoding(const fs::path& path) {
  VITRO_TRY_ASSIGN(const MappedFile file, open_file(path));
  VITRO_TRY_ASSIGN(const Format format, format_of(file));
  return is_ranks(format);
}

}  // namespace vitro
