// Any bytes as a SentencePiece .model; what loads must take a text apart and put it together again.
#include <memory>

#include "base/check.h"
#include "tokens/load_sources.h"

namespace {

constexpr size_t kMaxFileBytes = size_t{64} << 10;
constexpr std::string_view kTexts[] = {"", "Hello  world 123, na\u00EFve\n\n \u4F60\u597D <s> \xF0\x9F\x98",
                                       "a aa aaa    \u2581\uFF21\u3000b <sep>"};

void use(const vitro::Tokenizer& tokenizer, std::string_view text) {
  const auto encoding = tokenizer.encode(text);
  if (!encoding) return;
  VITRO_CHECK(encoding->ids.size() == encoding->ranges.size());
  for (size_t i = 0; i < encoding->ids.size(); ++i) {
    VITRO_CHECK(encoding->ids[i] >= 0 && encoding->ids[i] < tokenizer.vocab_size());
    VITRO_CHECK(encoding->ranges[i].begin <= encoding->ranges[i].end && encoding->ranges[i].end <= text.size());
  }
  tokenizer.decode(encoding->ids, false);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > kMaxFileBytes) return 0;
  auto parts = vitro::read_sentencepiece({reinterpret_cast<const std::byte*>(data), size});
  if (!parts) return 0;
  const auto tokenizer = vitro::PipelineTokenizer::make(std::move(*parts));
  if (!tokenizer) return 0;
  for (const std::string_view text : kTexts) use(**tokenizer, text);
  use(**tokenizer, {reinterpret_cast<const char*>(data), std::min<size_t>(size, 256)});
  return 0;
}
