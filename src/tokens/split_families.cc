// Patterns as the families' own tokenizer.json files write them, in that order; where llama.cpp's reading of a family
// differs, the family's file counts. Names of one line share a tokenizer's way of cutting.
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

// Punctuation, then as GPT-2; and on the byte alphabet, in which some bytes are written as digits ("\u00B2"), numbers
// and threes of digits.
constexpr std::array<std::string_view, 2> kFalcon = {R"([\p{P}$+<=>^`|~]+)", kGpt2Split};
constexpr std::array<std::string_view, 2> kFalconBytes = {R"(\p{N}+)", "[0-9][0-9][0-9]"};

constexpr std::array<std::string_view, 1> kLlama3 = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

constexpr std::array<std::string_view, 1> kQwen2 = {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
                                                    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

constexpr std::array<std::string_view, 1> kQwen35 = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|)"
    R"( ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

constexpr std::array<std::string_view, 2> kMinicpm5 = {
    R"(\p{N}{1,3})", R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+|)"
                     R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

constexpr std::array<std::string_view, 1> kSeedCoder = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
    R"( ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)"};

constexpr std::array<std::string_view, 1> kBailing = {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
                                                      R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)"};

constexpr std::array<std::string_view, 1> kGpt4o = {
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

constexpr std::array<std::string_view, 1> kTekken = {
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
    R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// As GPT-4o, but Chinese characters (the script Han) are words of their own.
#define VITRO_UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]])"
#define VITRO_LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]])"
constexpr std::array<std::string_view, 1> kKimi = {
    R"([\p{Han}]+|[^\r\n\p{L}\p{N}]?)" VITRO_UPPER "*" VITRO_LOWER R"(+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?)" VITRO_UPPER "+" VITRO_LOWER R"(*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
#undef VITRO_LOWER
#undef VITRO_UPPER

constexpr std::string_view kCjkWords = "[\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+";

constexpr std::array<std::string_view, 6> kDeepseekLlm = {
    R"([\r\n])",
    "\\s?[A-Za-z\u00B5\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u01BA\u01BC-\u01BF\u01C4-\u0293\u0295-\u02AF\u0370-"
    "\u0373\u0376\u0377"
    "\u037B-\u037D\u037F\u0386\u0388-\u038A\u038C\u038E-\u03A1\u03A3-\u03F5\u03F7-\u0481\u048A-\u052F\u0531-\u0556"
    "\u10A0-\u10C5\u13A0-\u13F5\u13F8-\u13FD\u1C90-\u1CBA\u1CBD-\u1CBF\u1D00-\u1D2B\u1D6B-\u1D77\u1D79-\u1D9A\u1E00-"
    "\u1F15"
    "\u1F18-\u1F1D\u1F20-\u1F45\u1F48-\u1F4D\u1F50-\u1F57\u1F59\u1F5B\u1F5D\u1F5F-\u1F7D\u1F80-\u1FB4\u1FB6-"
    "\u1FBC\u1FBE"
    "\u1FC2-\u1FC4\u1FC6-\u1FCC\u1FD0-\u1FD3\u1FD6-\u1FDB\u1FE0-\u1FEC\u1FF2-\u1FF4\u1FF6-\u1FFC\u2102\u2107\u210A-"
    "\u2113"
    "\u2115\u2119-\u211D\u2124\u2126\u2128\u212A-\u212D\u212F-\u2134\u2139\u213C-\u213F\u2145-\u2149\u214E\u2183\u2184"
    "\u2C00-\u2C7B\u2C7E-\u2CE4\u2CEB-\u2CEE\u2CF2\u2CF3\uA640-\uA66D\uA680-\uA69B\uA722-\uA76F\uA771-\uA787\uA78B-"
    "\uA78E"
    "\uAB70-\uABBF\uFB00-\uFB06\uFB13-\uFB17\uFF21-\uFF3A\uFF41-\uFF5A\U00010400-\U0001044F\U000104B0-\U000104D3"
    "\U000104D8-\U000104FB\U00010C80-\U00010CB2\U00010CC0-\U00010CF2\U000118A0-\U000118DF\U0001E900-\U0001E943]+",
    "\\s?[!-/:-~\uFF01-\uFF0F\uFF1A-\uFF5E\u2018-\u201F\u3000-\u3002]+",
    R"(\s+$)",
    kCjkWords,
    R"(\p{N})"};

constexpr std::array<std::string_view, 5> kDeepseekCoder = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kCjkWords,
                                                            R"(\p{N})"};

constexpr std::array<std::string_view, 3> kDeepseek3 = {
    R"(\p{N}{1,3})", "[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+",
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)"
    R"( ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

constexpr std::string_view kBloomSplit = " ?[^(\\s|.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C)]+";
constexpr std::array<std::string_view, 1> kBloom = {kBloomSplit};
constexpr std::array<std::string_view, 2> kViking = {kBloomSplit, R"(\p{N})"};

constexpr SplitFamily kFamilies[] = {
    {.name = "gpt-2", .patterns = kGpt2},
    {.name = "gpt2", .patterns = kGpt2},
    {.name = "phi-2", .patterns = kGpt2},
    {.name = "jina-es", .patterns = kGpt2},
    {.name = "jina-de", .patterns = kGpt2},
    {.name = "jina-v2-es", .patterns = kGpt2},
    {.name = "jina-v2-de", .patterns = kGpt2},
    {.name = "jina-v1-en", .patterns = kGpt2},
    {.name = "jina-v2-code", .patterns = kGpt2},
    {.name = "roberta-bpe", .patterns = kGpt2},
    {.name = "gigachat", .patterns = kGpt2},
    {.name = "a.x-4.0", .patterns = kGpt2},
    {.name = "mellum", .patterns = kGpt2},
    {.name = "jais", .patterns = kGpt2},
    {.name = "exaone4", .patterns = kGpt2},
    {.name = "trillion", .patterns = kGpt2},
    {.name = "granite-docling", .patterns = kGpt2},
    {.name = "mpt", .patterns = kGpt2, .normalizes_nfc = true},
    {.name = "olmo", .patterns = kGpt2, .normalizes_nfc = true},
    {.name = "modern-bert", .patterns = kGpt2, .normalizes_nfc = true},
    {.name = "smollm", .patterns = kSingleDigits},
    {.name = "starcoder", .patterns = kSingleDigits},
    {.name = "refact", .patterns = kSingleDigits},
    {.name = "codeshell", .patterns = kSingleDigits},
    {.name = "exaone", .patterns = kSingleDigits},
    {.name = "minerva-7b", .patterns = kSingleDigits},
    {.name = "mellum2", .patterns = kSingleDigits},
    {.name = "command-r", .patterns = kSingleDigits, .normalizes_nfc = true},
    {.name = "falcon", .patterns = kFalcon, .patterns_of_bytes = kFalconBytes},
    {.name = "llama-bpe", .patterns = kLlama3, .takes_whole_words = true, .adds_bos = true},
    {.name = "llama3", .patterns = kLlama3, .takes_whole_words = true, .adds_bos = true},
    {.name = "llama-v3", .patterns = kLlama3, .takes_whole_words = true, .adds_bos = true},
    {.name = "falcon3", .patterns = kLlama3, .takes_whole_words = true, .adds_bos = true},
    {.name = "falcon-h1", .patterns = kLlama3, .takes_whole_words = true, .adds_bos = true},
    {.name = "pixtral", .patterns = kLlama3, .takes_whole_words = true, .adds_bos = true},
    {.name = "midm-2.0", .patterns = kLlama3, .takes_whole_words = true, .adds_bos = true},
    {.name = "lfm2", .patterns = kLlama3, .takes_whole_words = true, .adds_bos = true},
    {.name = "jina-v5-nano", .patterns = kLlama3, .takes_whole_words = true, .adds_bos = true},
    {.name = "dbrx", .patterns = kLlama3},
    {.name = "smaug-bpe", .patterns = kLlama3},
    {.name = "glm4", .patterns = kLlama3},
    {.name = "chatglm-bpe", .patterns = kLlama3},
    {.name = "minicpm5", .patterns = kMinicpm5, .takes_whole_words = true},
    {.name = "qwen2", .patterns = kQwen2, .normalizes_nfc = true},
    {.name = "deepseek-r1-qwen", .patterns = kQwen2, .normalizes_nfc = true},
    {.name = "f2llmv2", .patterns = kQwen2, .normalizes_nfc = true},
    {.name = "hunyuan", .patterns = kQwen2, .normalizes_nfc = true},
    {.name = "stablelm2", .patterns = kQwen2},
    {.name = "megrez", .patterns = kQwen2},
    {.name = "kormo", .patterns = kQwen2},
    {.name = "grok-2", .patterns = kQwen2},
    {.name = "solar-open", .patterns = kQwen2},
    {.name = "qwen35", .patterns = kQwen35, .normalizes_nfc = true},
    {.name = "seed-coder", .patterns = kSeedCoder},
    {.name = "bailingmoe", .patterns = kBailing},
    {.name = "bailingmoe2", .patterns = kBailing},
    {.name = "llada-moe", .patterns = kBailing},
    {.name = "gpt-4o", .patterns = kGpt4o},
    {.name = "llama4", .patterns = kGpt4o},
    {.name = "kanana2", .patterns = kGpt4o},
    {.name = "minimax-m2", .patterns = kGpt4o},
    {.name = "tekken", .patterns = kTekken, .takes_whole_words = true, .adds_bos = true},
    {.name = "kimi-k2", .patterns = kKimi},
    {.name = "deepseek-llm", .patterns = kDeepseekLlm},
    {.name = "deepseek-coder", .patterns = kDeepseekCoder},
    {.name = "deepseek-v3", .patterns = kDeepseek3},
    {.name = "hunyuan-dense", .patterns = kDeepseek3},
    {.name = "joyai-llm", .patterns = kDeepseek3},
    {.name = "bloom", .patterns = kBloom},
    {.name = "gpt3-finnish", .patterns = kBloom},
    {.name = "poro-chat", .patterns = kBloom},
    {.name = "viking", .patterns = kViking},
};

}  // namespace

std::span<const SplitFamily> split_families() { return kFamilies; }

const SplitFamily* find_split_family(std::string_view name) {
  const auto* family =
      std::find_if(std::begin(kFamilies), std::end(kFamilies), [&](const SplitFamily& f) { return f.name == name; });
  return family == std::end(kFamilies) ? nullptr : family;
}

}  // namespace vitro
