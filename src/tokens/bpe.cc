#include "tokens/bpe.h"

#include "tokens/bpe_encoder.h"

namespace vitro {

Result<std::unique_ptr<TokenModel>> Bpe::make(const Vocabulary& vocabulary, BpeSpec spec) {
  VITRO_TRY_ASSIGN(BpeTables tables, BpeTables::make(vocabulary, std::move(spec)));
  return std::unique_ptr<TokenModel>(new Bpe(std::move(tables)));
}

void Bpe::encode(std::string_view text, std::span<const ByteRange> words, std::vector<TextToken>& out) const {
  BpeEncoder(tables_).encode(text, words, out);
}

}  // namespace vitro
