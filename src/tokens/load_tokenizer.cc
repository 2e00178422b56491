// Which file of a path holds the tokenizer, and which reader understands it.
#include "formats/json.h"
#include "formats/mapped_file.h"
#include "formats/sniff.h"
#include "tokens/load_sources.h"
#include "tokens/pipeline_tokenizer.h"

namespace vitro {
namespace {

/// "bos_token": "<s>" or {"content": "<s>", ...}; -1 where the key or the piece is missing.
TokenId named_token(const Value& config, std::string_view key, const Vocabulary& vocabulary) {
  const Value* value = config.find(key);
  if (value != nullptr && value->as_object() != nullptr) value = value->find("content");
  return value == nullptr || value->as_string() == nullptr ? -1 : vocabulary.find(*value->as_string());
}

/// tokenizer_config.json beside the file names BOS and EOS; it is optional and changes no encoding.
Status read_config(const std::filesystem::path& path, TokenizerParts& parts) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  VITRO_TRY_ASSIGN(const MappedFile file, MappedFile::open(path, LoadMode::kRead));
  VITRO_TRY_ASSIGN(const Value config, parse_json(file.text(), path.string()));
  parts.bos_id = named_token(config, "bos_token", parts.vocabulary);
  parts.eos_id = named_token(config, "eos_token", parts.vocabulary);
  return {};
}

Result<std::unique_ptr<Tokenizer>> load_json_file(const MappedFile& file) {
  VITRO_TRY_ASSIGN(TokenizerParts parts, read_tokenizer_json(file.text(), file.path().string()));
  VITRO_TRY(read_config(file.path().parent_path() / "tokenizer_config.json", parts));
  return PipelineTokenizer::make(std::move(parts));
}

Result<std::unique_ptr<Tokenizer>> load_gguf_file(MappedFile file) {
  VITRO_TRY_ASSIGN(const GgufFile gguf, read_gguf(file.bytes(), file.path().string(), true));
  Result<TokenizerParts> parts = read_gguf_vocabulary(gguf);
  if (!parts) return fail(parts.error().in(file.path().string()));
  parts->file = std::move(file);
  return PipelineTokenizer::make(std::move(*parts));
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_tokenizer(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::path file_path = std::filesystem::is_directory(path, ignored) ? path / "tokenizer.json" : path;
  if (!std::filesystem::exists(file_path, ignored)) {
    return fail(ErrorCode::kNotFound,
                "no tokenizer at {}: looked for {}; a folder with tokenizer.json, that file, or a .gguf is needed",
                path.string(), file_path.string());
  }
  VITRO_TRY_ASSIGN(MappedFile file, MappedFile::open(file_path));
  VITRO_TRY(check_is_no_stand_in(file.bytes(), file_path.string()));
  switch (sniff(file.bytes())) {
    case FileKind::kGguf:
      return load_gguf_file(std::move(file));
    case FileKind::kJson:
      return load_json_file(file);
    case FileKind::kUnknown: {
      Result<TokenizerParts> parts = read_sentencepiece(file.bytes());
      if (!parts) return fail(parts.error().in(file_path.string()));
      return PipelineTokenizer::make(std::move(*parts));
    }
    default:
      return fail(ErrorCode::kUnsupported, "{} is neither a tokenizer.json nor a GGUF file", file_path.string());
  }
}

}  // namespace vitro
