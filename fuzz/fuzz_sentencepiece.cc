// Any bytes as a SentencePiece .model; what loads must take a text apart and put it together again.
#include <memory>

#include "tokens/load_sources.h"
#include "use_tokenizer.h"

namespace {

constexpr size_t kMaxFileBytes = size_t{64} << 10;
constexpr std::string_view kTexts[] = {"", "Hello  world 123, na\u00EFve\n\n \u4F60\u597D <s> \xF0\x9F\x98",
                                       "a aa aaa    \u2581\uFF21\u3000b <sep>"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > kMaxFileBytes) return 0;
  auto parts = vitro::read_sentencepiece({reinterpret_cast<const std::byte*>(data), size});
  if (!parts) return 0;
  const auto tokenizer = vitro::PipelineTokenizer::make(std::move(*parts));
  if (!tokenizer) return 0;
  for (const std::string_view text : kTexts) vitro::use_tokenizer(**tokenizer, text);
  vitro::use_tokenizer(**tokenizer, {reinterpret_cast<const char*>(data), std::min<size_t>(size, 256)});
  return 0;
}
