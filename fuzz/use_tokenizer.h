// What every tokenizer that loads must do, whatever file it came from: take texts apart and put them together again.
#pragma once

#include "base/check.h"
#include "tokens/tokenizer.h"

namespace vitro {

inline void use_tokenizer(const Tokenizer& tokenizer, std::string_view text) {
  const auto encoding = tokenizer.encode(text, {.add_special = true, .parse_special = text.size() % 2 == 0});
  if (!encoding) return;
  VITRO_CHECK(encoding->ids.size() == encoding->ranges.size());
  for (size_t i = 0; i < encoding->ids.size(); ++i) {
    VITRO_CHECK(encoding->ids[i] >= 0 && encoding->ids[i] < tokenizer.vocab_size());
    VITRO_CHECK(encoding->ranges[i].begin <= encoding->ranges[i].end && encoding->ranges[i].end <= text.size());
  }
  tokenizer.decode(encoding->ids, false);
}

}  // namespace vitro
