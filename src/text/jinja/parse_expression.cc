// Expressions, in the order of jinja2's precedence.
#include "text/jinja/parse_state.h"

namespace vitro::jinja {
namespace {

Result<ExprPtr> parse_or(ParseState& state);
Result<ExprPtr> parse_unary(ParseState& state, bool has_filters = true);
Result<ExprPtr> parse_primary(ParseState& state, bool has_namespace = false);
Result<ExprPtr> parse_postfix(ParseState& state, ExprPtr expr);

Status check_height(const Expr& expr) {
  if (expr.height <= kMaxTreeHeight) return {};
  return syntax_error(expr.pos, "an expression of more than {} parts in a row", kMaxTreeHeight);
}

Result<ExprPtr> pair_of(ExprKind kind, Pos pos, ExprPtr left, ExprPtr right) {
  ExprPtr out = make_expr(kind, pos);
  add_child(*out, std::move(left));
  add_child(*out, std::move(right));
  VITRO_TRY(check_height(*out));
  return out;
}

ExprPtr constant(Val value, Pos pos) {
  ExprPtr out = make_expr(ExprKind::kConst, pos);
  out->value = std::move(value);
  return out;
}

Val plain_string(std::string text) {
  return Val(Kind::kString, std::make_shared<StringObject>(nullptr, MarkedText::plain(std::move(text)), false));
}

/// a if test else b, where the else may be missing.
Result<ExprPtr> parse_conditional(ParseState& state) {
  const ParseState::Level level(state.depth);
  if (level.is_too_deep()) return state.too_deep();
  VITRO_TRY_ASSIGN(ExprPtr value, parse_or(state));
  while (state.is_name("if")) {
    ExprPtr out = make_expr(ExprKind::kConditional, state.take().pos);
    VITRO_TRY_ASSIGN(ExprPtr test, parse_or(state));
    ExprPtr other;
    if (state.skip_name("else")) {
      VITRO_TRY_ASSIGN(other, parse_conditional(state));
    }
    add_child(*out, std::move(value));
    add_child(*out, std::move(test));
    add_child(*out, std::move(other));
    VITRO_TRY(check_height(*out));
    value = std::move(out);
  }
  return value;
}

std::optional<CompareOp> compare_op(const ParseState& state) {
  constexpr std::pair<std::string_view, CompareOp> kOps[] = {{"==", CompareOp::kEq}, {"!=", CompareOp::kNe},
                                                             {"<", CompareOp::kLt},  {"<=", CompareOp::kLe},
                                                             {">", CompareOp::kGt},  {">=", CompareOp::kGe}};
  for (const auto& [text, op] : kOps) {
    if (state.is_op(text)) return op;
  }
  if (state.is_name("in")) return CompareOp::kIn;
  const bool is_not_in = state.is_name("not") && state.look().kind == Tok::kName && state.look().text == "in";
  return is_not_in ? std::optional(CompareOp::kNotIn) : std::nullopt;
}

std::optional<BinaryOp> sum_op(const ParseState& state) {
  if (state.is_op("+")) return BinaryOp::kAdd;
  if (state.is_op("-")) return BinaryOp::kSub;
  return std::nullopt;
}

std::optional<BinaryOp> product_op(const ParseState& state) {
  if (state.is_op("*")) return BinaryOp::kMul;
  if (state.is_op("/")) return BinaryOp::kDiv;
  if (state.is_op("//")) return BinaryOp::kFloorDiv;
  if (state.is_op("%")) return BinaryOp::kMod;
  return std::nullopt;
}

std::optional<BinaryOp> power_op(const ParseState& state) {
  return state.is_op("**") ? std::optional(BinaryOp::kPow) : std::nullopt;
}

using Parse = Result<ExprPtr> (*)(ParseState&);

/// Operators of one rank, from the left.
Result<ExprPtr> parse_left(ParseState& state, Parse operand, std::optional<BinaryOp> (*op_at)(const ParseState&)) {
  VITRO_TRY_ASSIGN(ExprPtr left, operand(state));
  while (const std::optional<BinaryOp> op = op_at(state)) {
    const Pos pos = state.take().pos;
    VITRO_TRY_ASSIGN(ExprPtr right, operand(state));
    VITRO_TRY_ASSIGN(left, pair_of(ExprKind::kBinary, pos, std::move(left), std::move(right)));
    left->binary_op = *op;
  }
  return left;
}

Result<ExprPtr> parse_power(ParseState& state) {
  return parse_left(
      state, [](ParseState& s) { return parse_unary(s); }, power_op);
}

Result<ExprPtr> parse_product(ParseState& state) { return parse_left(state, parse_power, product_op); }

Result<ExprPtr> parse_concat(ParseState& state) {
  VITRO_TRY_ASSIGN(ExprPtr first, parse_product(state));
  if (!state.is_op("~")) return first;
  ExprPtr out = make_expr(ExprKind::kConcat, state.current().pos);
  add_child(*out, std::move(first));
  while (state.skip_op("~")) {
    VITRO_TRY_ASSIGN(ExprPtr next, parse_product(state));
    add_child(*out, std::move(next));
  }
  return out;
}

Result<ExprPtr> parse_sum(ParseState& state) { return parse_left(state, parse_concat, sum_op); }

Result<ExprPtr> parse_compare(ParseState& state) {
  VITRO_TRY_ASSIGN(ExprPtr first, parse_sum(state));
  if (!compare_op(state)) return first;
  ExprPtr out = make_expr(ExprKind::kCompare, state.current().pos);
  add_child(*out, std::move(first));
  while (const std::optional<CompareOp> op = compare_op(state)) {
    state.take();
    if (*op == CompareOp::kNotIn) state.take();
    VITRO_TRY_ASSIGN(ExprPtr next, parse_sum(state));
    add_child(*out, std::move(next));
    out->compare_ops.push_back(*op);
  }
  return out;
}

Result<ExprPtr> parse_not(ParseState& state) {
  if (!state.is_name("not")) return parse_compare(state);
  const ParseState::Level level(state.depth);
  if (level.is_too_deep()) return state.too_deep();
  ExprPtr out = make_expr(ExprKind::kNot, state.take().pos);
  VITRO_TRY_ASSIGN(ExprPtr operand, parse_not(state));
  add_child(*out, std::move(operand));
  return out;
}

/// `and` and `or` chains.
Result<ExprPtr> parse_logic(ParseState& state, Parse operand, std::string_view word, ExprKind kind) {
  VITRO_TRY_ASSIGN(ExprPtr left, operand(state));
  while (state.is_name(word)) {
    const Pos pos = state.take().pos;
    VITRO_TRY_ASSIGN(ExprPtr right, operand(state));
    VITRO_TRY_ASSIGN(left, pair_of(kind, pos, std::move(left), std::move(right)));
  }
  return left;
}

Result<ExprPtr> parse_and(ParseState& state) { return parse_logic(state, parse_not, "and", ExprKind::kAnd); }
Result<ExprPtr> parse_or(ParseState& state) { return parse_logic(state, parse_and, "or", ExprKind::kOr); }

tl::unexpected<Error> bad_call(Pos pos) { return syntax_error(pos, "invalid syntax for function call expression"); }

Status parse_argument(ParseState& state, Expr& call, Pos pos) {
  if (state.skip_op("*")) {
    if (call.star_args || call.star_kwargs) return bad_call(pos);
    VITRO_TRY_ASSIGN(call.star_args, parse_expression(state));
    return {};
  }
  if (state.skip_op("**")) {
    if (call.star_kwargs) return bad_call(pos);
    VITRO_TRY_ASSIGN(call.star_kwargs, parse_expression(state));
    return {};
  }
  if (state.is(Tok::kName) && state.look().kind == Tok::kOperator && state.look().text == "=") {
    if (call.star_kwargs) return bad_call(pos);
    std::string name = state.take().text;
    state.take();
    VITRO_TRY_ASSIGN(ExprPtr value, parse_expression(state));
    call.height = std::max(call.height, value->height + 1);
    for (const Keyword& other : call.keywords) {
      if (other.name == name) return syntax_error(pos, "keyword argument repeated: {}", name);
    }
    call.keywords.push_back({std::move(name), std::move(value)});
    return {};
  }
  if (call.star_args || call.star_kwargs || !call.keywords.empty()) return bad_call(pos);
  VITRO_TRY_ASSIGN(ExprPtr value, parse_expression(state));
  add_child(call, std::move(value));
  return {};
}

/// (a, b=c, *d, **e) into a call, filter or test.
Status parse_arguments(ParseState& state, Expr& call) {
  const Pos pos = state.current().pos;
  VITRO_TRY(state.expect_op("("));
  for (bool is_first = true; !state.is_op(")"); is_first = false) {
    if (!is_first) {
      VITRO_TRY(state.expect_op(","));
      if (state.is_op(")")) break;
    }
    VITRO_TRY(parse_argument(state, call, pos));
  }
  if (call.star_args) call.height = std::max(call.height, call.star_args->height + 1);
  if (call.star_kwargs) call.height = std::max(call.height, call.star_kwargs->height + 1);
  VITRO_TRY(check_height(call));
  return state.expect_op(")");
}

Result<ExprPtr> parse_call(ParseState& state, ExprPtr callee) {
  ExprPtr out = make_expr(ExprKind::kCall, state.current().pos);
  add_child(*out, std::move(callee));
  VITRO_TRY(parse_arguments(state, *out));
  return out;
}

/// What stands between [ and ]: an expression, or start:stop:step.
Result<ExprPtr> parse_subscript_item(ParseState& state) {
  const Pos pos = state.current().pos;
  ExprPtr parts[3];
  if (!state.is_op(":")) {
    VITRO_TRY_ASSIGN(parts[0], parse_expression(state));
    if (!state.is_op(":")) return std::move(parts[0]);
  }
  state.take();
  const auto is_end = [&] { return state.is_op(":") || state.is_op("]") || state.is_op(","); };
  if (!is_end()) {
    VITRO_TRY_ASSIGN(parts[1], parse_expression(state));
  }
  if (state.skip_op(":") && !is_end()) {
    VITRO_TRY_ASSIGN(parts[2], parse_expression(state));
  }
  ExprPtr out = make_expr(ExprKind::kSlice, pos);
  for (ExprPtr& part : parts) add_child(*out, std::move(part));
  return out;
}

Result<ExprPtr> parse_brackets(ParseState& state, Pos pos) {
  std::vector<ExprPtr> items;
  while (!state.is_op("]")) {
    if (!items.empty()) VITRO_TRY(state.expect_op(","));
    VITRO_TRY_ASSIGN(ExprPtr item, parse_subscript_item(state));
    items.push_back(std::move(item));
  }
  VITRO_TRY(state.expect_op("]"));
  if (items.size() == 1) return std::move(items[0]);
  ExprPtr out = make_expr(ExprKind::kTuple, pos);
  for (ExprPtr& item : items) {
    if (item->kind == ExprKind::kSlice) return syntax_error(pos, "a slice cannot be one of several subscripts");
    add_child(*out, std::move(item));
  }
  return out;
}

Result<ExprPtr> parse_subscript(ParseState& state, ExprPtr object) {
  const Token token = state.take();
  if (token.text == "[") {
    VITRO_TRY_ASSIGN(ExprPtr index, parse_brackets(state, token.pos));
    return pair_of(ExprKind::kGetitem, token.pos, std::move(object), std::move(index));
  }
  const Token name = state.take();
  if (name.kind == Tok::kInteger) {
    return pair_of(ExprKind::kGetitem, token.pos, std::move(object), constant(Val::integer(name.integer), name.pos));
  }
  if (name.kind != Tok::kName) return syntax_error(name.pos, "expected name or number");
  ExprPtr out = make_expr(ExprKind::kGetattr, token.pos);
  out->value = plain_string(name.text);
  add_child(*out, std::move(object));
  VITRO_TRY(check_height(*out));
  return out;
}

Result<ExprPtr> parse_postfix(ParseState& state, ExprPtr expr) {
  for (;;) {
    if (state.is_op(".") || state.is_op("[")) {
      VITRO_TRY_ASSIGN(expr, parse_subscript(state, std::move(expr)));
    } else if (state.is_op("(")) {
      VITRO_TRY_ASSIGN(expr, parse_call(state, std::move(expr)));
    } else {
      return expr;
    }
  }
}

Result<std::string> parse_dotted_name(ParseState& state) {
  VITRO_TRY_ASSIGN(std::string name, state.expect_any_name());
  while (state.skip_op(".")) {
    VITRO_TRY_ASSIGN(const std::string part, state.expect_any_name());
    name += "." + part;
  }
  return name;
}

bool begins_test_argument(const ParseState& state) {
  if (state.is_any_name({"else", "or", "and"})) return false;
  return state.is(Tok::kName) || state.is(Tok::kString) || state.is(Tok::kInteger) || state.is(Tok::kFloat) ||
         state.is_op("[") || state.is_op("{");
}

Result<ExprPtr> parse_test(ParseState& state, ExprPtr value) {
  const Pos pos = state.take().pos;
  const bool is_negated = state.skip_name("not");
  ExprPtr out = make_expr(ExprKind::kTest, pos);
  add_child(*out, std::move(value));
  VITRO_TRY_ASSIGN(out->name, parse_dotted_name(state));
  if (state.is_op("(")) {
    VITRO_TRY(parse_arguments(state, *out));
  } else if (begins_test_argument(state)) {
    if (state.is_name("is")) return syntax_error(state.current().pos, "You cannot chain multiple tests with is");
    VITRO_TRY_ASSIGN(ExprPtr argument, parse_primary(state));
    VITRO_TRY_ASSIGN(argument, parse_postfix(state, std::move(argument)));
    add_child(*out, std::move(argument));
  }
  VITRO_TRY(check_height(*out));
  if (!is_negated) return out;
  ExprPtr negated = make_expr(ExprKind::kNot, pos);
  add_child(*negated, std::move(out));
  return negated;
}

Result<ExprPtr> parse_filters_and_tests(ParseState& state, ExprPtr expr) {
  for (;;) {
    if (state.is_op("|")) {
      VITRO_TRY_ASSIGN(expr, parse_filters(state, std::move(expr)));
    } else if (state.is_name("is")) {
      VITRO_TRY_ASSIGN(expr, parse_test(state, std::move(expr)));
    } else if (state.is_op("(")) {
      VITRO_TRY_ASSIGN(expr, parse_call(state, std::move(expr)));
    } else {
      return expr;
    }
  }
}

Result<ExprPtr> parse_unary(ParseState& state, bool has_filters) {
  const ParseState::Level level(state.depth);
  if (level.is_too_deep()) return state.too_deep();
  ExprPtr expr;
  if (state.is_op("-") || state.is_op("+")) {
    const Token sign = state.take();
    expr = make_expr(sign.text == "-" ? ExprKind::kNeg : ExprKind::kPos, sign.pos);
    VITRO_TRY_ASSIGN(ExprPtr operand, parse_unary(state, false));
    add_child(*expr, std::move(operand));
  } else {
    VITRO_TRY_ASSIGN(expr, parse_primary(state));
  }
  VITRO_TRY_ASSIGN(expr, parse_postfix(state, std::move(expr)));
  return has_filters ? parse_filters_and_tests(state, std::move(expr)) : Result<ExprPtr>(std::move(expr));
}

Result<ExprPtr> parse_list(ParseState& state) {
  ExprPtr out = make_expr(ExprKind::kList, state.take().pos);
  while (!state.is_op("]")) {
    if (!out->children.empty()) VITRO_TRY(state.expect_op(","));
    if (state.is_op("]")) break;
    VITRO_TRY_ASSIGN(ExprPtr item, parse_expression(state));
    add_child(*out, std::move(item));
  }
  VITRO_TRY(state.expect_op("]"));
  return out;
}

Result<ExprPtr> parse_dict(ParseState& state) {
  ExprPtr out = make_expr(ExprKind::kDict, state.take().pos);
  while (!state.is_op("}")) {
    if (!out->children.empty()) VITRO_TRY(state.expect_op(","));
    if (state.is_op("}")) break;
    VITRO_TRY_ASSIGN(ExprPtr key, parse_expression(state));
    VITRO_TRY(state.expect_op(":"));
    VITRO_TRY_ASSIGN(ExprPtr value, parse_expression(state));
    add_child(*out, std::move(key));
    add_child(*out, std::move(value));
  }
  VITRO_TRY(state.expect_op("}"));
  return out;
}

Result<ExprPtr> parse_name(ParseState& state, bool has_namespace) {
  const Token token = state.take();
  const std::string& name = token.text;
  if (name == "true" || name == "True") return constant(Val::boolean(true), token.pos);
  if (name == "false" || name == "False") return constant(Val::boolean(false), token.pos);
  if (name == "none" || name == "None") return constant(Val::none(), token.pos);
  const bool is_attribute = has_namespace && state.skip_op(".");
  ExprPtr out = make_expr(is_attribute ? ExprKind::kNsRef : ExprKind::kName, token.pos);
  out->name = name;
  if (!is_attribute) return out;
  VITRO_TRY_ASSIGN(std::string attribute, state.expect_any_name());
  out->value = plain_string(std::move(attribute));
  return out;
}

Result<ExprPtr> parse_primary(ParseState& state, bool has_namespace) {
  const Token& token = state.current();
  const Pos pos = token.pos;
  if (token.kind == Tok::kName) return parse_name(state, has_namespace);
  if (token.kind == Tok::kString) {
    std::string text;
    while (state.is(Tok::kString)) text += state.take().text;
    return constant(plain_string(std::move(text)), pos);
  }
  if (token.kind == Tok::kInteger) return constant(Val::integer(state.take().integer), pos);
  if (token.kind == Tok::kFloat) return constant(Val::real(state.take().real), pos);
  if (state.is_op("[")) return parse_list(state);
  if (state.is_op("{")) return parse_dict(state);
  if (!state.is_op("(")) return syntax_error(pos, "unexpected {}", quote_token(token));
  state.take();
  VITRO_TRY_ASSIGN(ExprPtr out, parse_tuple(state, {.has_brackets = true}));
  VITRO_TRY(state.expect_op(")"));
  return out;
}

bool is_tuple_end(const ParseState& state, const TupleRules& rules) {
  if (state.is(Tok::kVariableEnd) || state.is(Tok::kBlockEnd) || state.is_op(")")) return true;
  return !rules.end_name.empty() && state.is_name(rules.end_name);
}

Status check_target(const Expr& target, const ParseState& state) {
  switch (target.kind) {
    case ExprKind::kName:
      if (target.name == "loop" && state.for_depth > 0) {
        return syntax_error(target.pos, "Can't assign to special loop variable in for-loop target");
      }
      return {};
    case ExprKind::kNsRef:
      return {};
    case ExprKind::kTuple:
      for (const ExprPtr& item : target.children) VITRO_TRY(check_target(*item, state));
      return {};
    default:
      return syntax_error(target.pos, "can't assign to this; a name is needed");
  }
}

}  // namespace

ExprPtr make_expr(ExprKind kind, Pos pos) {
  auto out = std::make_unique<Expr>();
  out->kind = kind;
  out->pos = pos;
  return out;
}

void add_child(Expr& parent, ExprPtr child) {
  if (child) parent.height = std::max(parent.height, child->height + 1);
  parent.children.push_back(std::move(child));
}

Result<ExprPtr> parse_expression(ParseState& state, bool has_condition) {
  if (has_condition) return parse_conditional(state);
  return parse_or(state);
}

Result<ExprPtr> parse_tuple(ParseState& state, const TupleRules& rules) {
  const Pos pos = state.current().pos;
  std::vector<ExprPtr> items;
  bool is_tuple = false;
  for (;;) {
    if (!items.empty()) VITRO_TRY(state.expect_op(","));
    if (is_tuple_end(state, rules)) break;
    Result<ExprPtr> item =
        rules.is_simple ? parse_primary(state, rules.has_namespace) : parse_expression(state, rules.has_condition);
    if (!item) return item;
    items.push_back(std::move(*item));
    if (!state.is_op(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && !items.empty()) return std::move(items[0]);
  if (!is_tuple && !rules.has_brackets) {
    return syntax_error(state.current().pos, "Expected an expression, got {}", quote_token(state.current()));
  }
  ExprPtr out = make_expr(ExprKind::kTuple, pos);
  for (ExprPtr& item : items) add_child(*out, std::move(item));
  return out;
}

Result<ExprPtr> parse_filters(ParseState& state, ExprPtr value, bool is_inline) {
  while (is_inline || state.is_op("|")) {
    if (!is_inline) state.take();
    is_inline = false;
    ExprPtr out = make_expr(ExprKind::kFilter, state.current().pos);
    add_child(*out, std::move(value));
    VITRO_TRY_ASSIGN(out->name, parse_dotted_name(state));
    if (state.is_op("(")) VITRO_TRY(parse_arguments(state, *out));
    VITRO_TRY(check_height(*out));
    value = std::move(out);
  }
  return value;
}

Result<ExprPtr> parse_target(ParseState& state, const TargetRules& rules) {
  if (rules.is_name_only) {
    const Pos pos = state.current().pos;
    ExprPtr out = make_expr(ExprKind::kName, pos);
    VITRO_TRY_ASSIGN(out->name, state.expect_any_name());
    constexpr std::string_view kConstants[] = {"true", "false", "none", "True", "False", "None"};
    if (std::find(std::begin(kConstants), std::end(kConstants), out->name) != std::end(kConstants)) {
      return syntax_error(pos, "can't assign to 'name'");
    }
    return out;
  }
  TupleRules tuple{.is_simple = true, .has_namespace = rules.has_namespace, .end_name = rules.end_name};
  VITRO_TRY_ASSIGN(ExprPtr out, parse_tuple(state, tuple));
  VITRO_TRY(check_target(*out, state));
  return out;
}

}  // namespace vitro::jinja
