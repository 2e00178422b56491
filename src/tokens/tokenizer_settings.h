// TokenizerSettings: what the files beside a vocabulary say in a Hugging Face folder: tokenizer_config.json,
// special_tokens_map.json, added_tokens.json. Each is optional.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "formats/value.h"
#include "tokens/added_tokens.h"

namespace vitro {

struct TokenizerSettings {
  std::string tokenizer_class;  ///< without "Fast" at its end; empty: not said
  std::optional<bool> adds_bos;
  std::optional<bool> adds_eos;
  std::optional<bool> is_legacy;
  std::optional<bool> adds_prefix_space;
  std::optional<bool> lowers_case;
  std::optional<bool> splits_chinese;
  std::optional<bool> strips_accents;
  std::vector<AddedToken> added;                            ///< with their ids
  std::vector<std::pair<std::string, AddedToken>> special;  ///< "bos_token" and so on; ids are -1

  /// The content of a named special token, or `missing`.
  std::string special_or(std::string_view name, std::string_view missing) const;
};

/// Of each of these files. Published ones have at most some MB.
inline constexpr size_t kMaxSettingsBytes = size_t{16} << 20;

/// NotFound is no error: absent files say nothing. Corrupt: values of the wrong kind, a file that is too long.
Result<TokenizerSettings> read_settings(const std::filesystem::path& folder);
/// From the text of tokenizer_config.json alone.
Result<TokenizerSettings> parse_settings(const Value& config);

}  // namespace vitro
