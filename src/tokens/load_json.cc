// tokenizer.json of Hugging Face -> TokenizerParts.
#include <array>

#include "formats/json.h"
#include "tokens/json_components.h"
#include "tokens/json_reader.h"
#include "tokens/load_sources.h"

namespace vitro {
namespace {

constexpr size_t kMaxJsonBytes = size_t{256} << 20;  // the largest published files have 35 MB
constexpr JsonLimits kTokenizerLimits = {.max_depth = 64, .max_values = size_t{1} << 24, .reals = RealReading::kQuick};

bool ends_in_bytes(const std::vector<TextStep>& steps) {
  return !steps.empty() && std::holds_alternative<ByteLevelStep>(steps.back());
}

Result<TokenizerParts> read_parts(const Value& document, const JsonTables& tables) {
  VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(document, "tokenizer.json"));
  VITRO_TRY_ASSIGN(const std::string version, reader.string_or("version", "1.0"));
  if (version != "1.0") return reader.unsupported("version " + json_quote(version));
  TokenizerParts parts;
  const Value* model = reader.optional("model");
  if (model == nullptr) return reader.wrong("model", "an object");
  VITRO_TRY(read_model(*model, tables, reader.optional("added_tokens"), parts));
  VITRO_TRY(read_normalizer(reader.optional("normalizer"), "normalizer", parts.normalizers));
  VITRO_TRY(read_pre_tokenizer(reader.optional("pre_tokenizer"), "pre_tokenizer", parts.pre_tokenizers));
  VITRO_TRY(read_post_processor(reader.optional("post_processor"), "post_processor", parts));
  VITRO_TRY(read_decoder(reader.optional("decoder"), parts.decode));
  VITRO_TRY(read_truncation(reader.optional("truncation"), parts.truncation));
  VITRO_TRY(read_padding(reader.optional("padding"), parts.padding));
  VITRO_TRY(reader.finish());
  if (std::holds_alternative<BpeSpec>(parts.model))
    parts.model_name = ends_in_bytes(parts.pre_tokenizers) ? "byte-level BPE" : "SentencePiece BPE";
  return parts;
}

}  // namespace

Result<TokenizerParts> read_tokenizer_json(std::string_view text, std::string_view where) {
  if (text.size() > kMaxJsonBytes) {
    return fail(ErrorCode::kUnsupported, "{}: {} bytes, at most {} are supported", where, text.size(), kMaxJsonBytes);
  }
  JsonTables tables;
  const std::array<JsonDiversion, 2> diversions = {
      {{"model", "vocab", &tables.pieces}, {"model", "merges", &tables.merges}}};
  VITRO_TRY_ASSIGN(const Value document, parse_json(text, where, kTokenizerLimits, diversions));
  Result<TokenizerParts> parts = read_parts(document, tables);
  if (!parts) return fail(parts.error().in(where));
  return parts;
}

Result<std::unique_ptr<Tokenizer>> parse_tokenizer(std::string_view text, std::string_view where) {
  VITRO_TRY_ASSIGN(TokenizerParts parts, read_tokenizer_json(text, where));
  return PipelineTokenizer::make(std::move(parts));
}

}  // namespace vitro
