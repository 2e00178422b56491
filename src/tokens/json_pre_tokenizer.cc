// "pre_tokenizer" of tokenizer.json. What is not written here is refused by name.
#include "formats/json.h"
#include "text/utf8.h"
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

Status read_punctuation(JsonReader& reader, std::vector<TextStep>& out) {
  CharacterSplitStep step{CharacterTest::kPunctuation, SplitBehavior::kIsolated};
  if (reader.optional("behavior") != nullptr) {
    VITRO_TRY_ASSIGN(step.behavior, read_behavior(reader, "behavior"));
  }
  out.emplace_back(step);
  return reader.finish();
}

Status read_digits(JsonReader& reader, std::vector<TextStep>& out) {
  VITRO_TRY_ASSIGN(const bool one_by_one, reader.boolean_or("individual_digits", false));
  const SplitBehavior behavior = one_by_one ? SplitBehavior::kIsolated : SplitBehavior::kContiguous;
  out.emplace_back(CharacterSplitStep{CharacterTest::kNumeric, behavior});
  return reader.finish();
}

Status read_delimiter(JsonReader& reader, std::vector<TextStep>& out) {
  VITRO_TRY_ASSIGN(const std::string delimiter, reader.string("delimiter"));
  const CodePoint point = decode_utf8(delimiter);
  if (delimiter.empty() || static_cast<size_t>(point.n_bytes) != delimiter.size()) {
    return reader.wrong("delimiter", "one character");
  }
  out.emplace_back(CharacterSplitStep{CharacterTest::kDelimiter, SplitBehavior::kRemoved, point.value});
  return reader.finish();
}

Status read_fixed_length(JsonReader& reader, std::vector<TextStep>& out) {
  LengthSplitStep step{5};  // what the reference takes where there is none
  if (reader.optional("length") != nullptr) {
    VITRO_TRY_ASSIGN(const int64_t length, reader.integer("length"));
    if (length <= 0) return reader.wrong("length", "a number above 0");
    step.n_characters = static_cast<size_t>(length);
  }
  out.emplace_back(step);
  return reader.finish();
}

/// Components that are only a name. False if there is none of that name.
bool add_named(std::string_view type, std::vector<TextStep>& out) {
  if (type == "Whitespace") {
    out.emplace_back(WordSplitStep{});
  } else if (type == "UnicodeScripts") {
    out.emplace_back(ScriptSplitStep{});
  } else if (type == "WhitespaceSplit" || type == "BertPreTokenizer") {
    out.emplace_back(CharacterSplitStep{CharacterTest::kWhiteSpace, SplitBehavior::kRemoved});
    if (type == "WhitespaceSplit") return true;
    out.emplace_back(CharacterSplitStep{CharacterTest::kPunctuation, SplitBehavior::kIsolated});
  } else {
    return false;
  }
  return true;
}

Status read_split(JsonReader& reader, std::vector<TextStep>& out) {
  VITRO_TRY_ASSIGN(JsonReader pattern, reader.object("pattern"));
  const bool is_regex = pattern.optional("Regex") != nullptr;
  VITRO_TRY_ASSIGN(const std::string text, pattern.string(is_regex ? "Regex" : "String"));
  VITRO_TRY(pattern.finish());
  VITRO_TRY_ASSIGN(const SplitBehavior behavior, read_behavior(reader, "behavior"));
  VITRO_TRY_ASSIGN(const bool is_inverted, reader.boolean_or("invert", false));
  if (text.empty()) {  // matches between all characters
    if (is_inverted && behavior == SplitBehavior::kRemoved)
      return reader.unsupported("a split that removes everything");
    out.emplace_back(LengthSplitStep{1});
    return reader.finish();
  }
  Result<SplitPattern> compiled = is_regex ? SplitPattern::compile(text) : SplitPattern::literal(text);
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
  reader.skip("str_rep");  // the replacement again
  if (scheme != "always" && scheme != "first" && scheme != "never")
    return reader.wrong("prepend_scheme", "always, first or never");
  if (!adds_space && scheme != "never") return reader.wrong("prepend_scheme", "never, as add_prefix_space is false");
  if (mark.empty() || static_cast<size_t>(decode_utf8(mark).n_bytes) != mark.size())
    return reader.wrong("replacement", "one character");
  if (mark != " ") out.emplace_back(ReplaceStep{" ", mark});
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
  if (type == "Digits") return read_digits(reader, out);
  if (type == "Punctuation") return read_punctuation(reader, out);
  if (type == "CharDelimiterSplit") return read_delimiter(reader, out);
  if (type == "FixedLength") return read_fixed_length(reader, out);
  if (add_named(type, out)) return reader.finish();
  return reader.unsupported("pre-tokenizer " + json_quote(type));
}

}  // namespace vitro
