// One piece at a time.
#include "tokens/decoder.h"

#include "text/byte_level.h"
#include "tokens/vocabulary.h"

namespace vitro {
namespace {

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (size_t pos = 0; pos < text.size();) {
    const size_t found = std::min(text.find(from, pos), text.size());
    out.append(text.substr(pos, found - pos));
    if (found == text.size()) break;
    out.append(to);
    pos = found + from.size();
  }
  return out;
}

}  // namespace

std::string DecodeRules::bytes_of(std::string_view piece, TokenKind kind) const {
  const bool is_added = kind == TokenKind::kControl || kind == TokenKind::kUserDefined || kind == TokenKind::kUnknown;
  if (keeps_added_pieces && is_added) return std::string(piece);
  if (is_byte_level) return from_byte_level(piece).value_or(std::string(piece));
  if (has_byte_fallback && kind == TokenKind::kByte) {
    if (const int byte = byte_token_value(piece); byte >= 0) return std::string(1, static_cast<char>(byte));
  }
  std::string out(piece);
  for (const auto& [from, to] : replacements) out = replace_all(out, from, to);
  return out;
}

}  // namespace vitro
