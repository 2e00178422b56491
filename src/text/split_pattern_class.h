// Classes of characters in the notation of regular expressions: single characters, escapes, \p{..}, [...].
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/code_point_set.h"
#include "text/split_pattern.h"

namespace vitro {

/// A place in a pattern.
class RegexCursor {
 public:
  explicit RegexCursor(std::string_view text) : text_(text) {}
  std::string_view text() const { return text_; }
  size_t pos() const { return pos_; }
  bool at_end() const { return pos_ >= text_.size(); }
  char peek() const { return text_[pos_]; }
  void advance(size_t n_bytes) { pos_ += n_bytes; }
  bool looking_at(std::string_view text) const { return text_.substr(pos_, text.size()) == text; }
  bool take(std::string_view text);
  char32_t take_character();
  /// "[split pattern] WHAT at byte N of '...' is not supported".
  tl::unexpected<Error> unsupported(std::string_view what) const;

 private:
  std::string_view text_;
  size_t pos_ = 0;
};

/// Reads one class or character at the cursor.
class RegexClassReader {
 public:
  RegexClassReader(RegexCursor& in, RegexDialect dialect) : in_(in), dialect_(dialect) {}

  Result<CodePointSet> single();
  CodePointSet words() const;  ///< \w
  bool ignores_case() const { return ignores_case_; }
  void set_ignores_case(bool ignores) { ignores_case_ = ignores; }

 private:
  Result<CodePointSet> literal();
  Result<CodePointSet> bracket(int depth);
  Result<CodePointSet> bracket_union(int depth);
  Result<CodePointSet> bracket_item(int depth);
  Result<CodePointSet> escape();
  Result<CodePointSet> property(bool is_negated);
  Result<char32_t> hex_character();
  Result<CodePointSet> with_other_case(CodePointSet set);
  Status refuse_case_beyond_ascii(const CodePointSet& set);

  RegexCursor& in_;
  RegexDialect dialect_;
  bool ignores_case_ = false;
  char32_t last_folded_ = 0;  ///< the literal read last while case was ignored, and where it ended
  size_t last_end_ = 0;
};

}  // namespace vitro
