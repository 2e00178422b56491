// The table of OpenAI's encoder.py (bytes_to_unicode), as arithmetic over the bytes that are not printable.
#include "text/byte_level.h"

#include <array>

#include "text/utf8.h"

namespace vitro {
namespace {

constexpr bool is_own_character(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

struct Alphabet {
  std::array<char32_t, 256> characters{};
  std::array<int16_t, 0x144> values{};  ///< by character; 68 bytes live from U+0100 to U+0143
};

constexpr Alphabet make_alphabet() {
  Alphabet out;
  for (int16_t& value : out.values) value = -1;
  char32_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const char32_t character = is_own_character(byte) ? static_cast<char32_t>(byte) : next++;
    out.characters[static_cast<size_t>(byte)] = character;
    out.values[character] = static_cast<int16_t>(byte);
  }
  return out;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

char32_t byte_level_char(uint8_t byte) { return kAlphabet.characters[byte]; }

int byte_level_value(char32_t character) {
  return character < kAlphabet.values.size() ? kAlphabet.values[character] : -1;
}

std::string to_byte_level(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) append_utf8(out, byte_level_char(static_cast<uint8_t>(c)));
  return out;
}

std::optional<std::string> from_byte_level(std::string_view piece) {
  std::string out;
  for (size_t pos = 0; pos < piece.size();) {
    const CodePoint point = decode_utf8(piece.substr(pos));
    const int value = point.is_valid ? byte_level_value(point.value) : -1;
    if (value < 0) return std::nullopt;
    out.push_back(static_cast<char>(value));
    pos += static_cast<size_t>(point.n_bytes);
  }
  return out;
}

}  // namespace vitro
