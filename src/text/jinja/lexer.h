// Lexer of templates: text and tags with trim_blocks and lstrip_blocks on, as transformers sets them; every token knows
// its line and column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace vitro::jinja {

/// Line and column from 1; columns count code points.
struct Pos {
  uint32_t line = 1;
  uint32_t column = 1;
};

enum class Tok : uint8_t {
  kData,
  kVariableBegin,
  kVariableEnd,
  kBlockBegin,
  kBlockEnd,
  kName,
  kString,
  kInteger,
  kFloat,
  kOperator,
  kEof
};

struct Token {
  Tok kind = Tok::kEof;
  Pos pos;
  std::string text;  ///< data, name, operator; a string without quotes and escapes
  int64_t integer = 0;
  double real = 0;
};

/// All tokens, the last one kEof. Corrupt: "line 3, column 7: unexpected char ...".
Result<std::vector<Token>> lex(std::string_view source);

/// An error of a template's text.
template <class... Args>
[[nodiscard]] tl::unexpected<Error> syntax_error(Pos pos, fmt::format_string<Args...> format, Args&&... args) {
  return fail(ErrorCode::kCorrupt, "line {}, column {}: {}", pos.line, pos.column,
              fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace vitro::jinja
