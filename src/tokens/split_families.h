// The ways of cutting text into words that GGUF files name in tokenizer.ggml.pre. One table; unknown names are refused.
#pragma once

#include <span>
#include <string_view>

namespace vitro {

/// The split of ByteLevel pre-tokenizers (GPT-2's encoder.py).
extern const std::string_view kGpt2Pattern;

/// What a name in tokenizer.ggml.pre stands for.
struct SplitFamily {
  std::string_view name;
  std::span<const std::string_view> patterns;                ///< applied one after the other, matches and gaps isolated
  std::span<const std::string_view> patterns_of_bytes = {};  ///< the same, on the text in the byte-level alphabet
  bool normalizes_nfc = false;  ///< the family's own tokenizer does, though the file does not say it
  bool takes_whole_words = false;
  bool adds_bos = false;  ///< where tokenizer.ggml.add_bos_token is missing
};

/// All of them, in no order.
std::span<const SplitFamily> split_families();

/// Null for names that are not known.
const SplitFamily* find_split_family(std::string_view name);

}  // namespace vitro
