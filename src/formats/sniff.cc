#include "formats/sniff.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/letters.h"
#include "formats/bounded_reader.h"

namespace vitro {
namespace {

/// Lower-case first bytes without leading white space (and a byte order mark).
std::string first_words(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min<size_t>(bytes.size(), 256));
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return lower_case(text);
}

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

bool is_safetensors(std::span<const std::byte> bytes) {
  if (bytes.size() < 9 || bytes[8] != std::byte{'{'}) return false;
  return load_unaligned<uint64_t>(bytes.data()) <= 100'000'000;
}

/// torch.save writes a ZIP archive, older versions and plain pickle a protocol mark.
bool is_pickle(std::string_view text) {
  return starts_with(text, "PK\x03\x04") || (text.size() > 2 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5);
}

bool is_llama2c(std::span<const std::byte> bytes) {
  if (bytes.size() < 7 * sizeof(int32_t)) return false;
  for (size_t i = 0; i < 7; ++i) {
    const auto value = load_unaligned<int32_t>(bytes.data() + i * sizeof(int32_t));
    const bool may_be_negative = i == 5;  // vocab_size: the sign says whether the classifier is shared
    if (value == 0 || value > (1 << 24) || value < (may_be_negative ? -(1 << 24) : 1)) return false;
  }
  return true;
}

bool is_old_ggml(std::string_view text) {
  constexpr std::array<std::string_view, 4> kMagics = {"lmgg", "fmgg", "tjgg", "algg"};
  return std::any_of(kMagics.begin(), kMagics.end(), [&](std::string_view magic) { return starts_with(text, magic); });
}

}  // namespace

FileKind sniff(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (starts_with(text, "GGUF")) return FileKind::kGguf;
  if (is_safetensors(bytes)) return FileKind::kSafetensors;
  if (starts_with(first_words(bytes), "{")) return FileKind::kJson;
  if (is_pickle(text)) return FileKind::kPickle;
  if (is_old_ggml(text)) return FileKind::kOldGgml;
  return is_llama2c(bytes) ? FileKind::kLlama2c : FileKind::kUnknown;
}

Status check_is_no_stand_in(std::span<const std::byte> bytes, std::string_view where) {
  if (bytes.empty()) return fail(ErrorCode::kCorrupt, "{}: the file is empty; download it again", where);
  const std::string words = first_words(bytes);
  if (starts_with(words, "<!doctype") || starts_with(words, "<html") || starts_with(words, "<?xml")) {
    return fail(ErrorCode::kCorrupt,
                "{}: a web page was saved in place of the file (a login or error page); download it again", where);
  }
  if (starts_with(words, "version https://git-lfs")) {
    return fail(ErrorCode::kCorrupt, "{}: a Git LFS pointer, not the file itself; run 'git lfs pull' in its folder",
                where);
  }
  return {};
}

}  // namespace vitro
