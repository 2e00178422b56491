// Any text as a tokenizer.json; what loads must take a text apart and put it together again. Files and texts are short,
// so that an input that needs long or much is a finding: the limits on growth are the loader's own.
#include "base/check.h"
#include "tokens/tokenizer.h"

namespace {

constexpr size_t kMaxFileBytes = size_t{64} << 10;
constexpr std::string_view kTexts[] = {"", "Hello  world 123, na\u00EFve\n\n \u4F60\u597D <s> \xF0\x9F\x98",
                                       "a aa aaa    \u2581\u0120b"};

void use(const vitro::Tokenizer& tokenizer, std::string_view text) {
  const auto encoding = tokenizer.encode(text, {.add_special = true, .parse_special = text.size() % 2 == 0});
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
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = vitro::parse_tokenizer(file, "fuzz");
  if (!tokenizer) return 0;
  for (const std::string_view text : kTexts) use(**tokenizer, text);
  use(**tokenizer, file.substr(0, 256));
  return 0;
}
