// A pattern, a zero byte, a text: matches of what compiles must be in order and whole characters. Patterns and texts
// are short, so that an input that needs long is a finding.
#include <algorithm>
#include <string>
#include <string_view>

#include "base/check.h"
#include "text/split_pattern.h"
#include "text/utf8.h"

namespace {

constexpr size_t kMaxBytes = size_t{8} << 10;
const std::string kManyLetters(500, 'a');  // enough that a pattern that ends in vain reads the text from its end

bool is_border(std::string_view text, size_t pos) {
  return pos == text.size() || (static_cast<uint8_t>(text[pos]) & 0xC0U) != 0x80;
}

void use(const vitro::SplitPattern& pattern, std::string_view text) {
  const auto found = pattern.find_all(text);
  if (!found) return;
  size_t end = 0;
  for (const vitro::ByteRange& range : *found) {
    VITRO_CHECK(range.begin >= end && range.begin < range.end && range.end <= text.size());
    VITRO_CHECK(is_border(text, range.begin) && is_border(text, range.end));
    end = range.end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > kMaxBytes) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t zero = std::min(input.find('\0'), input.size());
  const std::string text = vitro::replace_invalid_utf8(input.substr(std::min(zero + 1, input.size())));
  for (const auto dialect : {vitro::RegexDialect::kOniguruma, vitro::RegexDialect::kFancyRegex}) {
    const auto pattern = vitro::SplitPattern::compile(input.substr(0, zero), dialect);
    if (!pattern) continue;
    use(*pattern, text);
    use(*pattern, input.substr(0, zero));
    use(*pattern, kManyLetters + text);
  }
  return 0;
}
