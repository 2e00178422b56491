// Any text as a tokenizer.json; what loads must take a text apart and put it together again. Files and texts are short,
// so that an input that needs long or much is a finding: the limits on growth are the loader's own.
#include "use_tokenizer.h"

namespace {

constexpr size_t kMaxFileBytes = size_t{64} << 10;
constexpr std::string_view kTexts[] = {"", "Hello  world 123, na\u00EFve\n\n \u4F60\u597D <s> \xF0\x9F\x98",
                                       "a aa aaa    \u2581\u0120b"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > kMaxFileBytes) return 0;
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = vitro::parse_tokenizer(file, "fuzz");
  if (!tokenizer) return 0;
  for (const std::string_view text : kTexts) vitro::use_tokenizer(**tokenizer, text);
  vitro::use_tokenizer(**tokenizer, file.substr(0, 256));
  return 0;
}
