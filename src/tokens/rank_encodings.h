// The encodings of tiktoken's rank files. Such a file holds only byte strings and their ranks; how a text is cut and
// which special tokens there are stands in the program that reads it, so here.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tokens/tokenizer.h"

namespace vitro {

struct RankEncoding {
  std::string_view name;
  std::string_view file_stem;  ///< of the published file; empty: its name says nothing
  size_t n_ranks = 0;          ///< lines of the published file
  std::string_view pattern;
  bool normalizes_nfc = false;
  std::vector<std::pair<std::string, TokenId>> (*special_tokens)() = nullptr;
};

std::span<const RankEncoding> rank_encodings();
/// Null where there is none.
const RankEncoding* find_rank_encoding(std::string_view name);
/// The first whose file is called so or, whatever its name, has so many ranks; null where there is none.
const RankEncoding* guess_rank_encoding(std::string_view file_name, size_t n_ranks);
/// Whether load_tokenizer takes an encoding for this path: it means a file of ranks. Errors of load_tokenizer where no
/// such file can be told.
Result<bool> takes_encoding(const std::filesystem::path& path);

}  // namespace vitro
