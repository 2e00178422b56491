// The parser's place in the tokens, shared by its two halves: expressions and statements.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "text/jinja/ast.h"

namespace vitro::jinja {

constexpr int kMaxParseDepth = 200;  ///< brackets in brackets, blocks in blocks
constexpr int kMaxTreeHeight = 400;  ///< of one expression: a + b + ... has the height of its length

class ParseState {
 public:
  explicit ParseState(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& current() const { return tokens_[next_]; }
  const Token& look() const { return tokens_[std::min(next_ + 1, tokens_.size() - 1)]; }
  Token take() {
    Token token = current();
    if (next_ + 1 < tokens_.size()) ++next_;
    return token;
  }
  bool is(Tok kind) const { return current().kind == kind; }
  bool is_op(std::string_view op) const { return is(Tok::kOperator) && current().text == op; }
  bool is_name(std::string_view name) const { return is(Tok::kName) && current().text == name; }
  bool is_any_name(std::initializer_list<std::string_view> names) const {
    return is(Tok::kName) && std::find(names.begin(), names.end(), current().text) != names.end();
  }
  bool skip_op(std::string_view op) { return is_op(op) ? (take(), true) : false; }
  bool skip_name(std::string_view name) { return is_name(name) ? (take(), true) : false; }

  Status expect_op(std::string_view op);
  Status expect_name(std::string_view name);
  Result<std::string> expect_any_name();
  Status expect(Tok kind);

  /// Bounds recursion; hold one while a level of it lasts.
  class Level {
   public:
    explicit Level(int& depth) : depth_(depth) { ++depth_; }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    bool is_too_deep() const { return depth_ > kMaxParseDepth; }

   private:
    int& depth_;
  };
  tl::unexpected<Error> too_deep() const {
    return syntax_error(current().pos, "nested more than {} levels deep", kMaxParseDepth);
  }

  int depth = 0;
  int for_depth = 0;  ///< loops around this place; `loop` cannot be assigned inside one

 private:
  std::vector<Token> tokens_;
  size_t next_ = 0;
};

/// What a token is called in messages.
std::string quote_token(const Token& token);

ExprPtr make_expr(ExprKind kind, Pos pos);
/// Adds a child and keeps the height.
void add_child(Expr& parent, ExprPtr child);

/// Where a list of expressions without brackets may end, besides the ends every list has.
struct TupleRules {
  bool is_simple = false;  ///< names and literals only: targets
  bool has_condition = true;
  bool has_brackets = false;
  bool has_namespace = false;
  std::string_view end_name;
};
Result<ExprPtr> parse_tuple(ParseState& state, const TupleRules& rules = {});
Result<ExprPtr> parse_expression(ParseState& state, bool has_condition = true);
/// `| name(...)` as often as it follows; with is_inline the first bar is missing (filter blocks).
Result<ExprPtr> parse_filters(ParseState& state, ExprPtr value, bool is_inline = false);

struct TargetRules {
  bool is_name_only = false;
  bool has_namespace = false;
  std::string_view end_name;
};
Result<ExprPtr> parse_target(ParseState& state, const TargetRules& rules = {});

}  // namespace vitro::jinja
