// Patterns as the families' tokenizer.json files write them (Split pre-tokenizers), in that order.
#include "tokens/split_families.h"

#include <algorithm>
#include <array>

namespace vitro {

const std::string_view kGpt2Pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

namespace {

constexpr std::string_view kGpt2Split = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

constexpr std::array<std::string_view, 1> kGpt2 = {kGpt2Split};

// Digits one by one, then as GPT-2.
constexpr std::array<std::string_view, 2> kSingleDigits = {R"(\p{N})", kGpt2Split};

constexpr std::array<std::string_view, 1> kLlama3 = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

constexpr std::array<std::string_view, 1> kQwen2 = {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
                                                    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

constexpr std::array<std::string_view, 1> kGpt4o = {
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

constexpr std::array<std::string_view, 5> kDeepseekCoder = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)",
                                                            "[\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+", R"(\p{N})"};

constexpr std::array<std::string_view, 3> kDeepseek3 = {
    R"(\p{N}{1,3})", "[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+",
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)"
    R"( ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

constexpr std::array<SplitFamily, 13> kFamilies = {{
    {.name = "gpt-2", .patterns = kGpt2},
    {.name = "gpt2", .patterns = kGpt2},
    {.name = "phi-2", .patterns = kGpt2},
    {.name = "smollm", .patterns = kSingleDigits},
    {.name = "starcoder", .patterns = kSingleDigits},
    {.name = "refact", .patterns = kSingleDigits},
    {.name = "llama-bpe", .patterns = kLlama3, .takes_whole_words = true, .adds_bos = true},
    {.name = "llama3", .patterns = kLlama3, .takes_whole_words = true, .adds_bos = true},
    {.name = "llama-v3", .patterns = kLlama3, .takes_whole_words = true, .adds_bos = true},
    {.name = "qwen2", .patterns = kQwen2, .normalizes_nfc = true},
    {.name = "gpt-4o", .patterns = kGpt4o},
    {.name = "deepseek-coder", .patterns = kDeepseekCoder},
    {.name = "deepseek-v3", .patterns = kDeepseek3},
}};

}  // namespace

const SplitFamily* find_split_family(std::string_view name) {
  const auto* family =
      std::find_if(kFamilies.begin(), kFamilies.end(), [&](const SplitFamily& f) { return f.name == name; });
  return family == kFamilies.end() ? nullptr : family;
}

}  // namespace vitro
