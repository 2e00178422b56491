#include "text/jinja/parser.h"

#include <set>

#include "text/jinja/parse_state.h"

namespace vitro::jinja {

std::string quote_token(const Token& token) {
  switch (token.kind) {
    case Tok::kData:
      return "'template data / text'";
    case Tok::kVariableBegin:
      return "'begin of print statement'";
    case Tok::kVariableEnd:
      return "'end of print statement'";
    case Tok::kBlockBegin:
      return "'begin of statement block'";
    case Tok::kBlockEnd:
      return "'end of statement block'";
    case Tok::kString:
      return "'string'";
    case Tok::kInteger:
      return "'integer'";
    case Tok::kFloat:
      return "'float'";
    case Tok::kEof:
      return "'end of template'";
    case Tok::kName:
    case Tok::kOperator:
      break;
  }
  return "'" + token.text + "'";
}

namespace {
tl::unexpected<Error> unexpected(const Token& found, std::string_view expected) {
  if (found.kind == Tok::kEof) {
    return syntax_error(found.pos, "unexpected end of template, expected '{}'.", expected);
  }
  return syntax_error(found.pos, "expected token '{}', got {}", expected, quote_token(found));
}
}  // namespace

Status ParseState::expect_op(std::string_view op) {
  if (!is_op(op)) return unexpected(current(), op);
  take();
  return {};
}

Status ParseState::expect_name(std::string_view name) {
  if (!is_name(name)) return unexpected(current(), name);
  take();
  return {};
}

Result<std::string> ParseState::expect_any_name() {
  if (!is(Tok::kName)) return unexpected(current(), "name");
  return take().text;
}

Status ParseState::expect(Tok kind) {
  if (!is(kind)) {
    const std::string name = quote_token({kind, {}, "", 0, 0});
    return unexpected(current(), std::string_view(name).substr(1, name.size() - 2));
  }
  take();
  return {};
}

namespace {

using Ends = std::initializer_list<std::string_view>;

class StatementParser {
 public:
  explicit StatementParser(std::vector<Token> tokens) : state_(std::move(tokens)) {}

  Result<Body> run() { return parse_until({}); }

 private:
  /// Everything up to a tag of `ends`, which stays the current token (behind its opening).
  Result<Body> parse_until(Ends ends) {
    const ParseState::Level level(state_.depth);
    if (level.is_too_deep()) return state_.too_deep();
    Body body;
    while (!state_.is(Tok::kEof)) {
      if (state_.is(Tok::kData)) {
        StmtPtr text = make(StmtKind::kText);
        text->text = state_.take().text;
        body.push_back(std::move(text));
      } else if (state_.is(Tok::kVariableBegin)) {
        VITRO_TRY_ASSIGN(StmtPtr print, parse_print());
        body.push_back(std::move(print));
      } else {
        state_.take();
        if (state_.is_any_name(ends)) return body;
        VITRO_TRY(parse_tag(body, ends));
        VITRO_TRY(state_.expect(Tok::kBlockEnd));
      }
    }
    if (ends.size() != 0) {
      return syntax_error(state_.current().pos,
                          "Unexpected end of template. Jinja was looking for the following tags: {}. The innermost "
                          "block that needs to be closed is '{}'.",
                          words(ends), tags_.back());
    }
    return body;
  }

  static std::string words(Ends ends) {
    std::string out;
    for (const std::string_view end : ends) out += (out.empty() ? "'" : " or '") + std::string(end) + "'";
    return out;
  }

  StmtPtr make(StmtKind kind) const {
    auto out = std::make_unique<Stmt>();
    out->kind = kind;
    out->pos = state_.current().pos;
    return out;
  }

  Result<StmtPtr> parse_print() {
    StmtPtr out = make(StmtKind::kPrint);
    state_.take();
    VITRO_TRY_ASSIGN(out->value, parse_tuple(state_));
    VITRO_TRY(state_.expect(Tok::kVariableEnd));
    return out;
  }

  /// The end of the opening tag, then the body up to the closing one, which is taken if there is only one.
  Result<Body> parse_body(Ends ends) {
    state_.skip_op(":");
    VITRO_TRY(state_.expect(Tok::kBlockEnd));
    VITRO_TRY_ASSIGN(Body body, parse_until(ends));
    if (ends.size() == 1) state_.take();
    return body;
  }

  Status parse_tag(Body& body, Ends ends) {
    if (!state_.is(Tok::kName)) return syntax_error(state_.current().pos, "tag name expected");
    const std::string tag = state_.current().text;
    tags_.push_back(tag);
    struct Handler {
      std::string_view tag;
      Result<StmtPtr> (StatementParser::*parse)();
    };
    constexpr Handler kHandlers[] = {{"for", &StatementParser::parse_for},
                                     {"if", &StatementParser::parse_if},
                                     {"set", &StatementParser::parse_set},
                                     {"macro", &StatementParser::parse_macro},
                                     {"call", &StatementParser::parse_call_block},
                                     {"filter", &StatementParser::parse_filter_block},
                                     {"generation", &StatementParser::parse_generation},
                                     {"with", &StatementParser::parse_with},
                                     {"block", &StatementParser::parse_block},
                                     {"break", &StatementParser::parse_break},
                                     {"continue", &StatementParser::parse_continue}};
    for (const Handler& handler : kHandlers) {
      if (handler.tag != tag) continue;
      VITRO_TRY_ASSIGN(StmtPtr statement, (this->*handler.parse)());
      body.push_back(std::move(statement));
      tags_.pop_back();
      return {};
    }
    if (tag == "print") {
      VITRO_TRY(parse_print_tag(body));
      tags_.pop_back();
      return {};
    }
    return refuse_tag(tag, ends);
  }

  Status refuse_tag(const std::string& tag, Ends ends) {
    const Pos pos = state_.current().pos;
    constexpr std::string_view kOthers[] = {"include", "import", "from", "extends", "autoescape"};
    if (std::find(std::begin(kOthers), std::end(kOthers), tag) != std::end(kOthers)) {
      return fail(ErrorCode::kUnsupported, "line {}, column {}: '{}' is not supported; a chat template stands alone",
                  pos.line, pos.column, tag);
    }
    if (ends.size() == 0) return syntax_error(pos, "Encountered unknown tag '{}'.", tag);
    return syntax_error(pos, "Encountered unknown tag '{}'. Jinja was looking for the following tags: {}.", tag,
                        words(ends));
  }

  Status parse_print_tag(Body& body) {
    state_.take();
    for (bool is_first = true; !state_.is(Tok::kBlockEnd); is_first = false) {
      if (!is_first) VITRO_TRY(state_.expect_op(","));
      StmtPtr out = make(StmtKind::kPrint);
      VITRO_TRY_ASSIGN(out->value, parse_expression(state_));
      body.push_back(std::move(out));
    }
    return {};
  }

  Result<StmtPtr> parse_for() {
    StmtPtr out = make(StmtKind::kFor);
    state_.take();
    ++state_.for_depth;
    VITRO_TRY_ASSIGN(out->target, parse_target(state_, {.end_name = "in"}));
    VITRO_TRY(state_.expect_name("in"));
    VITRO_TRY_ASSIGN(out->value, parse_tuple(state_, {.has_condition = false, .end_name = "recursive"}));
    if (state_.skip_name("if")) {
      VITRO_TRY_ASSIGN(out->test, parse_expression(state_));
    }
    out->is_recursive = state_.skip_name("recursive");
    VITRO_TRY_ASSIGN(out->body, parse_body({"endfor", "else"}));
    if (state_.take().text == "else") {
      VITRO_TRY_ASSIGN(out->else_body, parse_body({"endfor"}));
    }
    --state_.for_depth;
    return out;
  }

  Result<StmtPtr> parse_if() {
    StmtPtr out = make(StmtKind::kIf);
    state_.take();
    for (;;) {
      Branch branch;
      VITRO_TRY_ASSIGN(branch.test, parse_tuple(state_, {.has_condition = false}));
      VITRO_TRY_ASSIGN(branch.body, parse_body({"elif", "else", "endif"}));
      out->branches.push_back(std::move(branch));
      const std::string next = state_.take().text;
      if (next == "endif") return out;
      if (next == "else") break;
    }
    VITRO_TRY_ASSIGN(Body body, parse_body({"endif"}));
    out->branches.push_back({nullptr, std::move(body)});
    return out;
  }

  Result<StmtPtr> parse_set() {
    StmtPtr out = make(StmtKind::kSet);
    state_.take();
    VITRO_TRY_ASSIGN(out->target, parse_target(state_, {.has_namespace = true}));
    if (state_.skip_op("=")) {
      VITRO_TRY_ASSIGN(out->value, parse_tuple(state_));
      return out;
    }
    out->kind = StmtKind::kSetBlock;
    VITRO_TRY_ASSIGN(out->value, parse_filters(state_, nullptr));
    VITRO_TRY_ASSIGN(out->body, parse_body({"endset"}));
    return out;
  }

  Status parse_signature(MacroInfo& macro) {
    VITRO_TRY(state_.expect_op("("));
    while (!state_.is_op(")")) {
      if (!macro.parameters.empty()) VITRO_TRY(state_.expect_op(","));
      const Pos pos = state_.current().pos;
      VITRO_TRY_ASSIGN(const ExprPtr name, parse_target(state_, {.is_name_only = true}));
      if (std::find(macro.parameters.begin(), macro.parameters.end(), name->name) != macro.parameters.end()) {
        return syntax_error(pos, "duplicate argument '{}' in function definition", name->name);
      }
      macro.parameters.push_back(name->name);
      if (state_.skip_op("=")) {
        VITRO_TRY_ASSIGN(ExprPtr value, parse_expression(state_));
        macro.defaults.push_back(std::move(value));
      } else if (!macro.defaults.empty()) {
        return syntax_error(pos, "non-default argument follows default argument");
      }
    }
    return state_.expect_op(")");
  }

  /// The body of a macro or call block: loops outside do not reach in.
  Status parse_macro_body(Stmt& out, std::string_view end) {
    VITRO_TRY_ASSIGN(out.body, parse_body({end}));
    return {};
  }

  Result<StmtPtr> parse_macro() {
    StmtPtr out = make(StmtKind::kMacro);
    out->macro = std::make_unique<MacroInfo>();
    state_.take();
    VITRO_TRY_ASSIGN(const ExprPtr name, parse_target(state_, {.is_name_only = true}));
    out->text = name->name;
    VITRO_TRY(parse_signature(*out->macro));
    VITRO_TRY(parse_macro_body(*out, "endmacro"));
    return out;
  }

  Result<StmtPtr> parse_call_block() {
    StmtPtr out = make(StmtKind::kCallBlock);
    out->macro = std::make_unique<MacroInfo>();
    state_.take();
    if (state_.is_op("(")) VITRO_TRY(parse_signature(*out->macro));
    VITRO_TRY_ASSIGN(out->value, parse_expression(state_));
    if (out->value->kind != ExprKind::kCall) return syntax_error(out->pos, "expected call");
    VITRO_TRY(parse_macro_body(*out, "endcall"));
    return out;
  }

  Result<StmtPtr> parse_filter_block() {
    StmtPtr out = make(StmtKind::kFilterBlock);
    state_.take();
    VITRO_TRY_ASSIGN(out->value, parse_filters(state_, nullptr, true));
    VITRO_TRY_ASSIGN(out->body, parse_body({"endfilter"}));
    return out;
  }

  Result<StmtPtr> parse_generation() {
    StmtPtr out = make(StmtKind::kGeneration);
    out->macro = std::make_unique<MacroInfo>();
    state_.take();
    VITRO_TRY_ASSIGN(out->body, parse_body({"endgeneration"}));
    return out;
  }

  Result<StmtPtr> parse_with() {
    StmtPtr out = make(StmtKind::kWith);
    state_.take();
    while (!state_.is(Tok::kBlockEnd)) {
      if (!out->targets.empty()) VITRO_TRY(state_.expect_op(","));
      VITRO_TRY_ASSIGN(ExprPtr target, parse_target(state_));
      VITRO_TRY(state_.expect_op("="));
      VITRO_TRY_ASSIGN(ExprPtr value, parse_expression(state_));
      out->targets.push_back(std::move(target));
      out->values.push_back(std::move(value));
    }
    VITRO_TRY_ASSIGN(out->body, parse_body({"endwith"}));
    return out;
  }

  Result<StmtPtr> parse_block() {
    StmtPtr out = make(StmtKind::kBlock);
    state_.take();
    VITRO_TRY_ASSIGN(out->text, state_.expect_any_name());
    if (state_.is_any_name({"scoped", "required"})) {
      return fail(ErrorCode::kUnsupported, "line {}, column {}: '{}' blocks are not supported", out->pos.line,
                  out->pos.column, state_.current().text);
    }
    if (!blocks_.insert(out->text).second) return syntax_error(out->pos, "block '{}' defined twice", out->text);
    VITRO_TRY_ASSIGN(out->body, parse_body({"endblock"}));
    state_.skip_name(out->text);
    return out;
  }

  Result<StmtPtr> parse_break() {
    StmtPtr out = make(StmtKind::kBreak);
    state_.take();
    return out;
  }
  Result<StmtPtr> parse_continue() {
    StmtPtr out = make(StmtKind::kContinue);
    state_.take();
    return out;
  }

  ParseState state_;
  std::vector<std::string> tags_;  ///< open, innermost last
  std::set<std::string> blocks_;   ///< names of all blocks so far
};

}  // namespace

Result<Body> parse_template(std::vector<Token> tokens) { return StatementParser(std::move(tokens)).run(); }

}  // namespace vitro::jinja
