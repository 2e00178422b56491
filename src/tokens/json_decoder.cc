// "decoder" of tokenizer.json -> DecodeSpec. What is not written here is refused by name.
#include <algorithm>

#include "formats/json.h"
#include "text/utf8.h"
#include "tokens/json_components.h"
#include "tokens/json_reader.h"
#include "tokens/json_shared.h"

namespace vitro {
namespace {

constexpr size_t kMaxPatternBytes = 256;  // of Replace; bounds the comparisons for each byte of a text
constexpr size_t kMaxGrowth = 16;         // of a piece by all replacements together

/// Builds the list of steps.
class DecoderReader {
 public:
  explicit DecoderReader(std::vector<DecodeStep>& out) : out_(out) {}

  Status read(const Value& value, std::string where) {
    VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(value, std::move(where)));
    std::string type;
    VITRO_TRY_ASSIGN(type, reader.string("type"));
    if (type == "Sequence") {
      return each_of(reader, "decoders", [&](const Value& v, std::string at) { return read(v, std::move(at)); });
    }
    if (out_.size() >= kMaxComponents) return reader.unsupported("this many decoders");
    VITRO_TRY(add(type, reader));
    return reader.finish();
  }

 private:
  Status add(std::string_view type, JsonReader& reader) {
    if (type == "ByteLevel") return add_byte_level(reader);
    if (type == "ByteFallback") return add_step(ByteFallbackDecode{});
    if (type == "Fuse") return add_step(FuseDecode{});
    if (type == "Strip") return add_strip(reader);
    if (type == "Replace") return add_replace(reader);
    if (type == "Metaspace") return add_metaspace(reader);
    if (type == "WordPiece") return add_wordpiece(reader);
    if (type == "BPEDecoder") return add_bpe(reader);
    if (type == "CTC") return add_ctc(reader);
    return reader.unsupported("decoder " + json_quote(type));
  }

  template <class Step>
  Status add_step(Step step) {
    out_.emplace_back(std::move(step));
    return {};
  }

  Status add_byte_level(JsonReader& reader) {
    for (const char* key : {"add_prefix_space", "trim_offsets", "use_regex"}) reader.skip(key);
    return add_step(ByteLevelDecode{});
  }

  Status add_strip(JsonReader& reader) {
    StripDecode step;
    VITRO_TRY_ASSIGN(step.content, read_character(reader, "content"));
    VITRO_TRY_ASSIGN(step.n_start, read_count(reader, "start"));
    VITRO_TRY_ASSIGN(step.n_end, read_count(reader, "stop"));
    return add_step(std::move(step));
  }

  Status add_replace(JsonReader& reader) {
    VITRO_TRY_ASSIGN(JsonReader pattern, reader.object("pattern"));
    VITRO_TRY_ASSIGN(const std::string literal, pattern.string_or("String", ""));
    VITRO_TRY_ASSIGN(const std::string regex, pattern.string_or("Regex", ""));
    VITRO_TRY(pattern.finish());
    VITRO_TRY_ASSIGN(std::string content, reader.string("content"));
    if (literal.empty() == regex.empty()) return reader.wrong("pattern", "one String or Regex that is not empty");
    if (literal.size() > kMaxPatternBytes) return reader.unsupported("a pattern this long");
    const size_t n_least = std::max<size_t>(1, literal.size());
    growth_ *= std::max<size_t>(1, (content.size() + n_least - 1) / n_least);
    if (growth_ > kMaxGrowth) return reader.unsupported("a replacement that grows pieces so far");
    if (!literal.empty()) return add_step(ReplaceDecode{literal, std::move(content)});
    Result<SplitPattern> compiled = SplitPattern::compile(regex);
    if (!compiled) return fail(compiled.error().in(reader.where()));
    return add_step(RegexReplaceDecode{std::move(*compiled), std::move(content)});
  }

  Status add_metaspace(JsonReader& reader) {
    MetaspaceDecode step;
    VITRO_TRY_ASSIGN(step.mark, read_character(reader, "replacement"));
    VITRO_TRY_ASSIGN(const std::string scheme, read_prepend_scheme(reader));
    for (const char* key : {"split", "str_rep"}) reader.skip(key);
    step.drops_first = scheme != "never";
    return add_step(std::move(step));
  }

  Status add_wordpiece(JsonReader& reader) {
    WordPieceDecode step;
    VITRO_TRY_ASSIGN(step.prefix, reader.string("prefix"));
    VITRO_TRY_ASSIGN(step.cleans_up, reader.boolean("cleanup"));
    return add_step(std::move(step));
  }

  Status add_bpe(JsonReader& reader) {
    BpeDecode step;
    VITRO_TRY_ASSIGN(step.suffix, reader.string("suffix"));
    if (step.suffix.empty()) return reader.unsupported("an empty suffix");
    return add_step(std::move(step));
  }

  Status add_ctc(JsonReader& reader) {
    CtcDecode step;
    VITRO_TRY_ASSIGN(step.pad, reader.string("pad_token"));
    VITRO_TRY_ASSIGN(step.delimiter, reader.string("word_delimiter_token"));
    VITRO_TRY_ASSIGN(step.cleans_up, reader.boolean("cleanup"));
    if (step.cleans_up && step.delimiter.empty()) return reader.unsupported("an empty word delimiter");
    return add_step(std::move(step));
  }

  /// "prepend_scheme"; older files have "add_prefix_space".
  static Result<std::string> read_prepend_scheme(JsonReader& reader) {
    VITRO_TRY_ASSIGN(const bool adds_space, reader.boolean_or("add_prefix_space", true));
    VITRO_TRY_ASSIGN(std::string scheme, reader.string_or("prepend_scheme", adds_space ? "always" : "never"));
    if (scheme != "always" && scheme != "first" && scheme != "never")
      return reader.wrong("prepend_scheme", "always, first or never");
    if (!adds_space && scheme != "never") return reader.wrong("add_prefix_space", "in agreement with prepend_scheme");
    return scheme;
  }

  static Result<std::string> read_character(JsonReader& reader, std::string_view key) {
    VITRO_TRY_ASSIGN(std::string text, reader.string(key));
    if (text.empty() || static_cast<size_t>(decode_utf8(text).n_bytes) != text.size())
      return reader.wrong(key, "one character");
    return text;
  }

  static Result<size_t> read_count(JsonReader& reader, std::string_view key) {
    VITRO_TRY_ASSIGN(const int64_t n, reader.integer(key));
    if (n < 0) return reader.wrong(key, "a count");
    return static_cast<size_t>(n);
  }

  std::vector<DecodeStep>& out_;
  size_t growth_ = 1;
};

}  // namespace

Status read_decoder(const Value* value, DecodeSpec& out) {
  if (value == nullptr || value->is_null()) {
    out.steps.emplace_back(SpacesDecode{});
    return {};
  }
  return DecoderReader(out.steps).read(*value, "decoder");
}

}  // namespace vitro
