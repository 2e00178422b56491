// Normalisers, pre-tokenizers, post-processors and decoders. What is not written here is refused by name.
#include "tokens/json_components.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "formats/json.h"
#include "tokens/json_reader.h"
#include "tokens/split_families.h"

namespace vitro {
namespace {

constexpr size_t kMaxPatternBytes = 256;  // of Replace; bounds the comparisons for each byte of a text
constexpr size_t kMaxSpecialIds = 256;    // that a template puts around a text

Result<ReplaceStep> read_replace(JsonReader& reader) {
  VITRO_TRY_ASSIGN(JsonReader pattern, reader.object("pattern"));
  ReplaceStep out;
  VITRO_TRY_ASSIGN(out.pattern, pattern.string("String"));
  VITRO_TRY(pattern.finish());
  VITRO_TRY_ASSIGN(out.content, reader.string("content"));
  if (out.pattern.empty()) return reader.unsupported("an empty pattern");
  if (out.pattern.size() > kMaxPatternBytes) return reader.unsupported("a pattern this long");
  VITRO_TRY(reader.finish());
  return out;
}

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
  VITRO_TRY_ASSIGN(const std::string scheme, read_prepend_scheme(reader));
  VITRO_TRY_ASSIGN(const bool splits, reader.boolean_or("split", true));
  reader.skip("str_rep");
  if (mark.empty()) return reader.wrong("replacement", "one character");
  out.emplace_back(ReplaceStep{" ", mark});
  if (scheme != "never") {
    out.emplace_back(PrependStep{.prefix = mark, .unless_present = true, .at_start_only = scheme == "first"});
  }
  if (splits) out.emplace_back(SplitStep{SplitPattern::literal(mark), SplitBehavior::kMergedWithNext, false});
  return reader.finish();
}

/// "single" of TemplateProcessing: ids before the text, the text ("A"), ids after it.
Status read_template(JsonReader& reader, TokenizerParts& parts) {
  VITRO_TRY_ASSIGN(const Value::Array* items, reader.array("single"));
  VITRO_TRY_ASSIGN(JsonReader specials, reader.object("special_tokens"));
  AddSpecial out;
  bool has_text = false;
  for (size_t i = 0; i < items->size(); ++i) {
    VITRO_TRY_ASSIGN(JsonReader item, JsonReader::open((*items)[i], fmt::format("{}.single[{}]", reader.where(), i)));
    if (item.optional("Sequence") != nullptr) {
      if (has_text) return item.unsupported("the text twice");
      has_text = true;
      continue;
    }
    VITRO_TRY_ASSIGN(JsonReader special, item.object("SpecialToken"));
    VITRO_TRY_ASSIGN(const std::string name, special.string("id"));
    VITRO_TRY_ASSIGN(JsonReader token, specials.object(name));
    VITRO_TRY_ASSIGN(const Value::Array* ids, token.array("ids"));
    for (const Value& id : *ids) {
      const auto n_ids = static_cast<int64_t>(parts.vocabulary.size());
      if (id.as_int() == nullptr || *id.as_int() < 0 || *id.as_int() >= n_ids) {
        return token.wrong("ids", "a list of ids of the vocabulary");
      }
      if (out.before.size() + out.after.size() >= kMaxSpecialIds) return reader.unsupported("a template this long");
      (has_text ? out.after : out.before).push_back(static_cast<TokenId>(*id.as_int()));
    }
  }
  if (!has_text) return reader.wrong("single", "a template with the text in it");
  reader.skip("pair");
  parts.post_steps.emplace_back(std::move(out));
  return reader.finish();
}

}  // namespace

Status each_of(JsonReader& reader, std::string_view key, const std::function<Status(const Value&, std::string)>& read) {
  VITRO_TRY_ASSIGN(const Value::Array* elements, reader.array(key));
  if (elements->size() > kMaxComponents) return reader.unsupported("a sequence this long");
  for (size_t i = 0; i < elements->size(); ++i) {
    VITRO_TRY(read((*elements)[i], fmt::format("{}.{}[{}]", reader.where(), key, i)));
  }
  return reader.finish();
}

Result<std::string> read_prepend_scheme(JsonReader& reader) {
  VITRO_TRY_ASSIGN(const bool adds_space, reader.boolean_or("add_prefix_space", true));
  VITRO_TRY_ASSIGN(std::string scheme, reader.string_or("prepend_scheme", adds_space ? "always" : "never"));
  if (scheme != "always" && scheme != "first" && scheme != "never")
    return reader.wrong("prepend_scheme", "always, first or never");
  if (!adds_space && scheme != "never") return reader.wrong("add_prefix_space", "in agreement with prepend_scheme");
  return scheme;
}

Status read_normalizer(const Value* value, const std::string& where, std::vector<TextStep>& out) {
  if (value == nullptr || value->is_null()) return {};
  VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(*value, where));
  if (out.size() >= kMaxComponents) return reader.unsupported("this many normalizers");
  VITRO_TRY_ASSIGN(const std::string type, reader.string("type"));
  if (type == "Sequence") {
    return each_of(reader, "normalizers", [&](const Value& v, std::string at) { return read_normalizer(&v, at, out); });
  }
  if (type == "NFC") {
    out.emplace_back(NfcStep{});
  } else if (type == "Prepend") {
    PrependStep step;
    VITRO_TRY_ASSIGN(step.prefix, reader.string("prepend"));
    out.emplace_back(std::move(step));
  } else if (type == "Replace") {
    VITRO_TRY_ASSIGN(ReplaceStep step, read_replace(reader));
    out.emplace_back(std::move(step));
  } else {
    return reader.unsupported("normalizer " + json_quote(type));
  }
  return reader.finish();
}

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

Status read_post_processor(const Value* value, const std::string& where, TokenizerParts& parts) {
  if (value == nullptr || value->is_null()) return {};
  VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(*value, where));
  if (parts.post_steps.size() >= kMaxComponents) return reader.unsupported("this many post-processors");
  VITRO_TRY_ASSIGN(const std::string type, reader.string("type"));
  if (type == "Sequence") {
    return each_of(reader, "processors",
                   [&](const Value& v, std::string at) { return read_post_processor(&v, at, parts); });
  }
  if (type == "TemplateProcessing") return read_template(reader, parts);
  if (type != "ByteLevel") return reader.unsupported("post-processor " + json_quote(type));
  VITRO_TRY_ASSIGN(const bool trims, reader.boolean_or("trim_offsets", true));
  VITRO_TRY_ASSIGN(const bool had_space, reader.boolean_or("add_prefix_space", true));
  reader.skip("use_regex");
  if (trims) parts.post_steps.emplace_back(TrimOffsets{had_space});
  return reader.finish();
}

}  // namespace vitro
