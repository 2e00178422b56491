// Patterns and special tokens as tiktoken (openai_public.py), Llama 3 (its tokenizer.py) and Qwen
// (tokenization_qwen.py) publish them. Possessive quantifiers are written as plain ones: none of these patterns gives
// back what it took.
#include "tokens/rank_encodings.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace vitro {
namespace {

using Specials = std::vector<std::pair<std::string, TokenId>>;

constexpr std::string_view kR50k = R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+$|\s+(?!\S)|\s)";

constexpr std::string_view kCl100k =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
    R"(\s+$|\s*[\r\n]|\s+(?!\S)|\s)";

constexpr std::string_view kO200k =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::string_view kLlama3 = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
                                     R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::string_view kQwen = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
                                   R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::string_view kEndOfText = "<|endoftext|>";

Specials r50k() { return {{std::string(kEndOfText), 50256}}; }

Specials p50k_edit() {
  return {{std::string(kEndOfText), 50256},
          {"<|fim_prefix|>", 50281},
          {"<|fim_middle|>", 50282},
          {"<|fim_suffix|>", 50283}};
}

Specials cl100k() {
  return {{std::string(kEndOfText), 100257},
          {"<|fim_prefix|>", 100258},
          {"<|fim_middle|>", 100259},
          {"<|fim_suffix|>", 100260},
          {"<|endofprompt|>", 100276}};
}

Specials o200k() { return {{std::string(kEndOfText), 199999}, {"<|endofprompt|>", 200018}}; }

/// A reserved name stands beside <|endofprompt|> under one id; the vocabulary knows it by the one that models use.
Specials o200k_harmony() {
  constexpr TokenId kFirst = 199998;
  constexpr TokenId kEnd = 201088;
  constexpr std::array<std::string_view, 15> kNames = {
      "<|startoftext|>", kEndOfText,    "", "", "<|return|>", "<|constrain|>", "", "<|channel|>", "<|start|>",
      "<|end|>",         "<|message|>", "", "", "",           "<|call|>"};
  Specials out;
  for (TokenId id = kFirst; id < kEnd; ++id) {
    const auto idx = static_cast<size_t>(id - kFirst);
    const bool is_named = idx < kNames.size() && !kNames[idx].empty();
    out.emplace_back(is_named ? std::string(kNames[idx]) : fmt::format("<|reserved_{}|>", id), id);
    if (id == 200018) out.emplace_back("<|endofprompt|>", id);
  }
  return out;
}

/// 256 tokens after the ranks, most of them reserved and numbered.
Specials llama3() {
  constexpr TokenId kFirst = 128000;
  constexpr std::array<std::string_view, 10> kNames = {
      "<|begin_of_text|>",   "<|end_of_text|>",   "", "",          "", "",
      "<|start_header_id|>", "<|end_header_id|>", "", "<|eot_id|>"};
  Specials out;
  int n_reserved = 0;
  for (TokenId id = kFirst; id < kFirst + 256; ++id) {
    const auto idx = static_cast<size_t>(id - kFirst);
    const bool is_named = idx < kNames.size() && !kNames[idx].empty();
    out.emplace_back(is_named ? std::string(kNames[idx]) : fmt::format("<|reserved_special_token_{}|>", n_reserved++),
                     id);
  }
  return out;
}

Specials qwen() {
  Specials out = {{std::string(kEndOfText), 151643}, {"<|im_start|>", 151644}, {"<|im_end|>", 151645}};
  for (int i = 0; i < 205; ++i) out.emplace_back(fmt::format("<|extra_{}|>", i), 151646 + i);
  return out;
}

constexpr std::array<RankEncoding, 9> kEncodings = {{
    {"r50k_base", "r50k_base", 50256, kR50k, false, r50k},
    {"gpt2", "gpt2", 50256, kR50k, false, r50k},
    {"p50k_base", "p50k_base", 50280, kR50k, false, r50k},
    {"p50k_edit", "", 0, kR50k, false, p50k_edit},
    {"cl100k_base", "cl100k_base", 100256, kCl100k, false, cl100k},
    {"o200k_base", "o200k_base", 199998, kO200k, false, o200k},
    {"o200k_harmony", "", 0, kO200k, false, o200k_harmony},
    {"llama3", "", 128000, kLlama3, false, llama3},
    {"qwen", "qwen", 151643, kQwen, true, qwen},
}};

}  // namespace

std::span<const RankEncoding> rank_encodings() { return kEncodings; }

const RankEncoding* find_rank_encoding(std::string_view name) {
  const auto* found = std::find_if(kEncodings.begin(), kEncodings.end(), [&](const auto& e) { return e.name == name; });
  return found == kEncodings.end() ? nullptr : found;
}

const RankEncoding* guess_rank_encoding(std::string_view file_name, size_t n_ranks) {
  const std::string_view stem = file_name.substr(0, file_name.rfind('.'));
  for (const RankEncoding& e : kEncodings) {
    if (!e.file_stem.empty() && stem == e.file_stem) return &e;
  }
  const auto* found = std::find_if(kEncodings.begin(), kEncodings.end(),
                                   [&](const auto& e) { return n_ranks > 0 && e.n_ranks == n_ranks; });
  return found == kEncodings.end() ? nullptr : found;
}

}  // namespace vitro
