// "pre_tokenizer" of tokenizer.json. What is not written here is refused by name.
#include "formats/json.h"
#include "tokens/json_components.h"
#include "tokens/json_shared.h"
#include "tokens/split_families.h"

namespace vitro {
namespace {

Result<SplitBehavior> read_behavior(JsonReader& reader, std::string_view key) {
  VITRO_TRY_ASSIGN(const std::string name, reader.string(key));
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  return reader.unsupported("behavior " + json_quote(name));
}

Status add_split(std::string_view regex, SplitBehavior behavior, std::vector<TextStep>& out) {
  VITRO_TRY_ASSIGN(SplitPattern pattern, SplitPattern::compile(regex));
  out.emplace_back(SplitStep{std::move(pattern), behavior, false});
  return {};
}

Status read_split(JsonReader& reader, std::vector<TextStep>& out) {
  VITRO_TRY_ASSIGN(JsonReader pattern, reader.object("pattern"));
  VITRO_TRY_ASSIGN(const std::string literal, pattern.string_or("String", ""));
  VITRO_TRY_ASSIGN(const std::string regex, pattern.string_or("Regex", ""));
  VITRO_TRY(pattern.finish());
  if (literal.empty() == regex.empty()) return reader.wrong("pattern", "one String or Regex that is not empty");
  VITRO_TRY_ASSIGN(const SplitBehavior behavior, read_behavior(reader, "behavior"));
  VITRO_TRY_ASSIGN(const bool is_inverted, reader.boolean_or("invert", false));
  Result<SplitPattern> compiled = regex.empty() ? SplitPattern::literal(literal) : SplitPattern::compile(regex);
  if (!compiled) return fail(compiled.error().in(reader.where()));
  out.emplace_back(SplitStep{std::move(*compiled), behavior, is_inverted});
  return reader.finish();
}

Status read_byte_level(JsonReader& reader, std::vector<TextStep>& out) {
  VITRO_TRY_ASSIGN(const bool adds_space, reader.boolean_or("add_prefix_space", true));
  VITRO_TRY_ASSIGN(const bool uses_regex, reader.boolean_or("use_regex", true));
  reader.skip("trim_offsets");  // only the post-processor's counts
  if (adds_space) out.emplace_back(PrependStep{.prefix = " ", .unless_present = true});
  if (uses_regex) VITRO_TRY(add_split(kGpt2Pattern, SplitBehavior::kIsolated, out));
  out.emplace_back(ByteLevelStep{});
  return reader.finish();
}

Status read_metaspace(JsonReader& reader, std::vector<TextStep>& out) {
  VITRO_TRY_ASSIGN(const std::string mark, reader.string("replacement"));
  VITRO_TRY_ASSIGN(const bool adds_space, reader.boolean_or("add_prefix_space", true));
  VITRO_TRY_ASSIGN(const std::string scheme, reader.string_or("prepend_scheme", adds_space ? "always" : "never"));
  VITRO_TRY_ASSIGN(const bool splits, reader.boolean_or("split", true));
  reader.skip("str_rep");
  if (scheme != "always" && scheme != "first" && scheme != "never")
    return reader.wrong("prepend_scheme", "always, first or never");
  if (mark.empty()) return reader.wrong("replacement", "one character");
  out.emplace_back(ReplaceStep{" ", mark});
  if (scheme != "never") {
    out.emplace_back(PrependStep{.prefix = mark, .unless_present = true, .at_start_only = scheme == "first"});
  }
  if (splits) out.emplace_back(SplitStep{SplitPattern::literal(mark), SplitBehavior::kMergedWithNext, false});
  return reader.finish();
}

}  // namespace

Status read_pre_tokenizer(const Value* value, const std::string& where, std::vector<TextStep>& out) {
  if (value == nullptr || value->is_null()) return {};
  VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(*value, where));
  if (out.size() >= kMaxComponents) return reader.unsupported("this many pre-tokenizers");
  VITRO_TRY_ASSIGN(const std::string type, reader.string("type"));
  if (type == "Sequence") {
    return each_of(reader, "pretokenizers",
                   [&](const Value& v, std::string at) { return read_pre_tokenizer(&v, at, out); });
  }
  if (type == "Split") return read_split(reader, out);
  if (type == "ByteLevel") return read_byte_level(reader, out);
  if (type == "Metaspace") return read_metaspace(reader, out);
  if (type == "Digits") {
    VITRO_TRY_ASSIGN(const bool one_by_one, reader.boolean_or("individual_digits", false));
    VITRO_TRY(add_split(R"(\p{N})", one_by_one ? SplitBehavior::kIsolated : SplitBehavior::kContiguous, out));
    return reader.finish();
  }
  return reader.unsupported("pre-tokenizer " + json_quote(type));
}

}  // namespace vitro
