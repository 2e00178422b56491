#include "tokens/tokenizer_settings.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/read_file.h"
#include "formats/json.h"
#include "formats/quote_name.h"
#include "tokens/vocabulary.h"

namespace vitro {
namespace {

constexpr std::array<std::string_view, 7> kSpecialNames = {"bos_token", "eos_token", "unk_token", "sep_token",
                                                           "pad_token", "cls_token", "mask_token"};

/// Null for keys that are missing or null.
const Value* find_value(const Value& object, std::string_view key) {
  const Value* value = object.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Status read_flag(const Value& object, std::string_view key, std::optional<bool>& out) {
  const Value* value = find_value(object, key);
  if (value == nullptr) return {};
  if (value->as_bool() == nullptr) return fail(ErrorCode::kCorrupt, "'{}' is no bool", key);
  out = *value->as_bool();
  return {};
}

bool flag_or(const Value& object, std::string_view key, bool missing) {
  const Value* value = find_value(object, key);
  return value == nullptr || value->as_bool() == nullptr ? missing : *value->as_bool();
}

/// A string, or an object with the flags of an added token.
Result<AddedToken> read_token(const Value& value, std::string_view key) {
  AddedToken out{.is_special = true};
  const Value* content = value.as_object() != nullptr ? value.find("content") : &value;
  if (content == nullptr || content->as_string() == nullptr) {
    return fail(ErrorCode::kCorrupt, "'{}' is neither a string nor an object with 'content'", key);
  }
  out.content = *content->as_string();
  if (content == &value) return out;
  out.is_special = flag_or(value, "special", true);
  out.is_single_word = flag_or(value, "single_word", false);
  out.strips_left = flag_or(value, "lstrip", false);
  out.strips_right = flag_or(value, "rstrip", false);
  out.is_normalized = flag_or(value, "normalized", false);
  return out;
}

Result<TokenId> read_id(std::string_view text) {
  TokenId id = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error == std::errc() && end == text.data() + text.size() && id >= 0 && static_cast<size_t>(id) < kMaxVocabulary) {
    return id;
  }
  return fail(ErrorCode::kCorrupt, "'added_tokens_decoder' has the key {}, not an id", quote_name(text));
}

Status read_added(const Value& config, TokenizerSettings& out) {
  const Value* decoder = find_value(config, "added_tokens_decoder");
  if (decoder == nullptr) return {};
  if (decoder->as_object() == nullptr) return fail(ErrorCode::kCorrupt, "'added_tokens_decoder' is no object");
  for (const auto& [key, value] : *decoder->as_object()) {
    VITRO_TRY_ASSIGN(AddedToken token, read_token(value, "added_tokens_decoder"));
    VITRO_TRY_ASSIGN(token.id, read_id(key));
    token.is_special = flag_or(value, "special", false);
    out.added.push_back(std::move(token));
  }
  std::sort(out.added.begin(), out.added.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return {};
}

/// What was read first counts: tokenizer_config.json goes before special_tokens_map.json.
void add_special(std::string name, AddedToken token, TokenizerSettings& out) {
  const bool is_list = name == "additional_special_tokens";
  const auto is_known = [&](const auto& pair) { return pair.first == name; };
  if (!is_list && std::any_of(out.special.begin(), out.special.end(), is_known)) return;
  out.special.emplace_back(std::move(name), std::move(token));
}

Status read_special(const Value& config, TokenizerSettings& out) {
  for (const std::string_view name : kSpecialNames) {
    const Value* value = find_value(config, name);
    if (value == nullptr) continue;
    VITRO_TRY_ASSIGN(AddedToken token, read_token(*value, name));
    add_special(std::string(name), std::move(token), out);
  }
  const Value* list = find_value(config, "additional_special_tokens");
  if (list == nullptr) return {};
  if (list->as_array() == nullptr) return fail(ErrorCode::kCorrupt, "'additional_special_tokens' is no array");
  for (const Value& item : *list->as_array()) {
    VITRO_TRY_ASSIGN(AddedToken token, read_token(item, "additional_special_tokens"));
    add_special("additional_special_tokens", std::move(token), out);
  }
  return {};
}

Status read_config(const Value& config, TokenizerSettings& out) {
  const Value* name = find_value(config, "tokenizer_class");
  if (name != nullptr && name->as_string() != nullptr) {
    std::string_view text = *name->as_string();
    if (text.ends_with("Fast")) text.remove_suffix(4);
    out.tokenizer_class = text;
  }
  VITRO_TRY(read_flag(config, "add_bos_token", out.adds_bos));
  VITRO_TRY(read_flag(config, "add_eos_token", out.adds_eos));
  VITRO_TRY(read_flag(config, "legacy", out.is_legacy));
  VITRO_TRY(read_flag(config, "add_prefix_space", out.adds_prefix_space));
  VITRO_TRY(read_flag(config, "do_lower_case", out.lowers_case));
  VITRO_TRY(read_flag(config, "tokenize_chinese_chars", out.splits_chinese));
  VITRO_TRY(read_flag(config, "strip_accents", out.strips_accents));
  VITRO_TRY(read_added(config, out));
  return read_special(config, out);
}

/// {"content": id} of old folders: special only if another file says so.
Status read_old_added(const Value& file, TokenizerSettings& out) {
  if (file.as_object() == nullptr || !out.added.empty()) return {};
  for (const auto& [content, id] : *file.as_object()) {
    if (id.as_int() == nullptr || *id.as_int() < 0 || *id.as_int() >= static_cast<int64_t>(kMaxVocabulary)) {
      return fail(ErrorCode::kCorrupt, "the id of {} is {}", quote_name(content), to_string(id, 40));
    }
    const auto is_same = [&, text = std::string_view(content)](const auto& pair) {
      return pair.second.content == text;
    };
    out.added.push_back({.id = static_cast<TokenId>(*id.as_int()),
                         .content = content,
                         .is_special = std::any_of(out.special.begin(), out.special.end(), is_same)});
  }
  std::sort(out.added.begin(), out.added.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return {};
}

template <class Read>
Status read_file(const std::filesystem::path& path, Read&& read, TokenizerSettings& out) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  VITRO_TRY_ASSIGN(const std::string text, read_small_file(path, kMaxSettingsBytes));
  VITRO_TRY_ASSIGN(const Value value, parse_json(text, path.string()));
  const Status status = read(value, out);
  if (!status) return fail(status.error().in(path.string()));
  return {};
}

}  // namespace

std::string TokenizerSettings::special_or(std::string_view name, std::string_view missing) const {
  const auto found = std::find_if(special.begin(), special.end(), [&](const auto& pair) { return pair.first == name; });
  return found == special.end() ? std::string(missing) : found->second.content;
}

Result<TokenizerSettings> parse_settings(const Value& config) {
  TokenizerSettings out;
  VITRO_TRY(read_config(config, out));
  return out;
}

Result<TokenizerSettings> read_settings(const std::filesystem::path& folder) {
  TokenizerSettings out;
  VITRO_TRY(read_file(folder / "tokenizer_config.json", read_config, out));
  VITRO_TRY(read_file(folder / "special_tokens_map.json", read_special, out));
  VITRO_TRY(read_file(folder / "added_tokens.json", read_old_added, out));
  return out;
}

}  // namespace vitro
