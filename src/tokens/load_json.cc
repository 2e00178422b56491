// tokenizer.json of Hugging Face -> TokenizerParts, and the choice of the reader for a path.
#include "formats/json.h"
#include "formats/mapped_file.h"
#include "formats/sniff.h"
#include "tokens/json_components.h"
#include "tokens/json_reader.h"

namespace vitro {
namespace {

constexpr size_t kMaxJsonBytes = size_t{256} << 20;  // the largest published files have 35 MB
constexpr JsonLimits kTokenizerLimits = {.max_depth = 64, .max_values = size_t{1} << 24};

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool ends_in_bytes(const std::vector<TextStep>& steps) {
  return !steps.empty() && std::holds_alternative<ByteLevelStep>(steps.back());
}

Result<TokenizerParts> read_parts(const Value& document) {
  VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(document, "tokenizer.json"));
  VITRO_TRY_ASSIGN(const std::string version, reader.string_or("version", "1.0"));
  if (version != "1.0") return reader.unsupported("version " + json_quote(version));
  // What to do with long texts and batches is the caller's business; the reference's libraries override these two as
  // well.
  reader.skip("truncation");
  reader.skip("padding");
  TokenizerParts parts;
  const Value* model = reader.optional("model");
  if (model == nullptr) return reader.wrong("model", "an object");
  VITRO_TRY(read_bpe_model(*model, reader.optional("added_tokens"), parts));
  VITRO_TRY(read_normalizer(reader.optional("normalizer"), "normalizer", parts.normalizers));
  VITRO_TRY(read_pre_tokenizer(reader.optional("pre_tokenizer"), "pre_tokenizer", parts.pre_tokenizers));
  VITRO_TRY(read_post_processor(reader.optional("post_processor"), "post_processor", parts));
  VITRO_TRY(read_decoder(reader.optional("decoder"), parts.decode));
  VITRO_TRY(reader.finish());
  parts.model_name = ends_in_bytes(parts.pre_tokenizers) ? "byte-level BPE" : "SentencePiece BPE";
  return parts;
}

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
  VITRO_TRY_ASSIGN(const Value config, parse_json(as_text(file.bytes()), path.string()));
  parts.bos_id = named_token(config, "bos_token", parts.vocabulary);
  parts.eos_id = named_token(config, "eos_token", parts.vocabulary);
  return {};
}

Result<TokenizerParts> parse_parts(std::string_view text, std::string_view where) {
  if (text.size() > kMaxJsonBytes) {
    return fail(ErrorCode::kUnsupported, "{}: {} bytes, at most {} are supported", where, text.size(), kMaxJsonBytes);
  }
  VITRO_TRY_ASSIGN(const Value document, parse_json(text, where, kTokenizerLimits));
  Result<TokenizerParts> parts = read_parts(document);
  if (!parts) return fail(parts.error().in(where));
  return parts;
}

Result<std::unique_ptr<Tokenizer>> load_json_file(const MappedFile& file) {
  VITRO_TRY_ASSIGN(TokenizerParts parts, parse_parts(as_text(file.bytes()), file.path().string()));
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

Result<std::unique_ptr<Tokenizer>> parse_tokenizer(std::string_view text, std::string_view where) {
  VITRO_TRY_ASSIGN(TokenizerParts parts, parse_parts(text, where));
  return PipelineTokenizer::make(std::move(parts));
}

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
    default:
      return fail(ErrorCode::kUnsupported, "{} is neither a tokenizer.json nor a GGUF file", file_path.string());
  }
}

}  // namespace vitro
