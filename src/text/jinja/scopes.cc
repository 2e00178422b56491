#include "text/jinja/scopes.h"

#include <map>
#include <set>

#include "text/jinja/filters.h"
#include "text/jinja/names.h"
#include "text/jinja/symbols.h"

namespace vitro::jinja {
namespace {

/// Where in the template the resolver is.
struct Frame {
  Symbols* symbols = nullptr;
  bool is_toplevel = false;  ///< what is set here every scope sees
  bool is_soft = false;      ///< inside an if: missing filters are found when they are used
  bool is_in_loop = false;

  Frame inner(Symbols& s) const { return {&s, false, false, is_in_loop}; }
};

class Resolver {
 public:
  Result<RootInfo> run(Body& body) {
    Function root(nullptr);
    current_ = &root;
    Symbols symbols(root, nullptr, 0);
    symbols.visit(body);
    VITRO_TRY(resolve_body(body, {&symbols, true, false, false}));
    return RootInfo{symbols.scope_info(root), root.n_slots};
  }

 private:
  Status resolve_body(Body& body, const Frame& frame) {
    for (const StmtPtr& statement : body) VITRO_TRY(resolve_statement(*statement, frame));
    return {};
  }

  Status resolve_statement(Stmt& s, const Frame& frame) {
    switch (s.kind) {
      case StmtKind::kText:
        return {};
      case StmtKind::kPrint:
        return resolve_expr(*s.value, frame);
      case StmtKind::kIf:
        return resolve_if(s, frame);
      case StmtKind::kFor:
        return resolve_for(s, frame);
      case StmtKind::kSet:
        VITRO_TRY(resolve_expr(*s.target, frame));
        s.is_exported = frame.is_toplevel;
        return resolve_expr(*s.value, frame);
      case StmtKind::kSetBlock:
        return resolve_set_block(s, frame);
      case StmtKind::kMacro:
        VITRO_TRY(resolve_macro_body(s, frame));
        s.slot = frame.symbols->slot_of(s.text, *current_);
        s.is_exported = frame.is_toplevel;
        return {};
      case StmtKind::kCallBlock:
        VITRO_TRY(resolve_macro_body(s, frame));
        return resolve_expr(*s.value, frame);
      case StmtKind::kGeneration:
        return resolve_macro_body(s, frame);
      case StmtKind::kFilterBlock:
        return resolve_filter_block(s, frame);
      case StmtKind::kWith:
        return resolve_with(s, frame);
      case StmtKind::kBlock:
        return resolve_block(s);
      case StmtKind::kBreak:
      case StmtKind::kContinue:
        if (frame.is_in_loop) return {};
        return syntax_error(s.pos, "'{}' outside loop", s.kind == StmtKind::kBreak ? "break" : "continue");
    }
    return {};
  }

  Status resolve_if(Stmt& s, Frame frame) {
    frame.is_soft = true;
    for (Branch& branch : s.branches) {
      if (branch.test) VITRO_TRY(resolve_expr(*branch.test, frame));
      VITRO_TRY(resolve_body(branch.body, frame));
    }
    return {};
  }

  Status resolve_for(Stmt& s, const Frame& frame) {
    VITRO_TRY(resolve_expr(*s.value, frame));
    if (s.test) VITRO_TRY(resolve_for_test(s, frame));
    if (!s.is_recursive) return resolve_for_bodies(s, frame);
    Function function(current_);
    current_ = &function;
    VITRO_TRY(resolve_for_bodies(s, frame));
    s.n_slots = function.n_slots;
    current_ = function.outer;
    return {};
  }

  Status resolve_for_bodies(Stmt& s, const Frame& frame) {
    Symbols symbols(*current_, frame.symbols);
    s.uses_loop = s.is_recursive || is_name_loaded(s.body, "loop");
    if (s.uses_loop) symbols.declare_parameter("loop");
    symbols.visit_parameter(*s.target);
    symbols.visit(s.body);
    Frame inner = frame.inner(symbols);
    inner.is_in_loop = true;
    VITRO_TRY(resolve_expr(*s.target, inner));
    VITRO_TRY(resolve_body(s.body, inner));
    if (s.uses_loop) s.loop_slot = symbols.slot_of("loop", *current_);
    s.scope = symbols.scope_info(*current_);

    Symbols else_symbols(*current_, frame.symbols);
    else_symbols.visit(s.else_body);
    Frame else_frame = frame.inner(else_symbols);
    else_frame.is_in_loop = frame.is_in_loop && !s.is_recursive;
    VITRO_TRY(resolve_body(s.else_body, else_frame));
    s.else_scope = else_symbols.scope_info(*current_);
    return {};
  }

  /// The filter of a loop is a function of its own, with its own copy of the target.
  Status resolve_for_test(Stmt& s, const Frame& frame) {
    Function function(current_);
    current_ = &function;
    Symbols symbols(function, frame.symbols);
    s.test_target = copy_target(*s.target);
    symbols.visit_parameter(*s.test_target);
    symbols.visit(*s.test);
    const Frame inner = frame.inner(symbols);
    VITRO_TRY(resolve_expr(*s.test_target, inner));
    VITRO_TRY(resolve_expr(*s.test, inner));
    s.test_scope = symbols.scope_info(function);
    s.n_test_slots = function.n_slots;
    current_ = function.outer;
    return {};
  }

  static ExprPtr copy_target(const Expr& target) {
    auto out = std::make_unique<Expr>();
    out->kind = target.kind;
    out->pos = target.pos;
    out->name = target.name;
    for (const ExprPtr& child : target.children) out->children.push_back(copy_target(*child));
    return out;
  }

  Status resolve_set_block(Stmt& s, const Frame& frame) {
    Symbols symbols(*current_, frame.symbols);
    if (s.value) symbols.visit(*s.value);
    symbols.visit(s.body);
    const Frame inner = frame.inner(symbols);
    VITRO_TRY(resolve_body(s.body, inner));
    if (s.value) VITRO_TRY(resolve_expr(*s.value, inner));
    s.scope = symbols.scope_info(*current_);
    s.is_exported = frame.is_toplevel;
    return resolve_expr(*s.target, frame);
  }

  Status resolve_filter_block(Stmt& s, const Frame& frame) {
    Symbols symbols(*current_, frame.symbols);
    symbols.visit(s.body);
    symbols.visit(*s.value);
    const Frame inner = frame.inner(symbols);
    VITRO_TRY(resolve_body(s.body, inner));
    VITRO_TRY(resolve_expr(*s.value, inner));
    s.scope = symbols.scope_info(*current_);
    return {};
  }

  Status resolve_with(Stmt& s, const Frame& frame) {
    Symbols symbols(*current_, frame.symbols);
    for (const ExprPtr& target : s.targets) symbols.visit_parameter(*target);
    symbols.visit(s.body);
    const Frame inner = frame.inner(symbols);
    for (size_t i = 0; i < s.targets.size(); ++i) {
      VITRO_TRY(resolve_expr(*s.targets[i], inner));
      VITRO_TRY(resolve_expr(*s.values[i], frame));
    }
    VITRO_TRY(resolve_body(s.body, inner));
    s.scope = symbols.scope_info(*current_);
    return {};
  }

  Status resolve_block(Stmt& s) {
    Function function(current_);
    current_ = &function;
    Symbols symbols(function, nullptr, 0);
    symbols.visit(s.body);
    VITRO_TRY(resolve_body(s.body, {&symbols, false, false, false}));
    s.scope = symbols.scope_info(function);
    s.n_slots = function.n_slots;
    current_ = function.outer;
    return {};
  }

  Status declare_specials(Stmt& s, Symbols& symbols) {
    MacroInfo& macro = *s.macro;
    const auto has_parameter = [&](std::string_view name) {
      return std::find(macro.parameters.begin(), macro.parameters.end(), name) != macro.parameters.end();
    };
    macro.has_caller_parameter = has_parameter("caller");
    const std::set<std::string> used = undeclared_names(s.body, {"caller", "kwargs", "varargs"});
    if (used.contains("caller")) {
      const size_t n_required = macro.parameters.size() - macro.defaults.size();
      for (size_t i = 0; i < n_required; ++i) {
        if (macro.parameters[i] != "caller") continue;
        return syntax_error(s.pos,
                            "When defining macros or call blocks the special \"caller\" argument must be omitted or "
                            "be given a default.");
      }
      if (!macro.has_caller_parameter) symbols.declare_parameter("caller");
      macro.uses_caller = true;
    }
    macro.uses_kwargs = used.contains("kwargs") && !has_parameter("kwargs");
    if (macro.uses_kwargs) symbols.declare_parameter("kwargs");
    macro.uses_varargs = used.contains("varargs") && !has_parameter("varargs");
    if (macro.uses_varargs) symbols.declare_parameter("varargs");
    return {};
  }

  Status resolve_macro_body(Stmt& s, const Frame& frame) {
    MacroInfo& macro = *s.macro;
    Function function(current_);
    current_ = &function;
    Symbols symbols(function, frame.symbols);
    const auto analyze = [&] {
      for (const std::string& name : macro.parameters) symbols.declare_parameter(name);
      for (const ExprPtr& value : macro.defaults) symbols.visit(*value);
      symbols.visit(s.body);
    };
    analyze();
    VITRO_TRY(declare_specials(s, symbols));
    analyze();
    Frame inner = frame.inner(symbols);
    inner.is_in_loop = false;
    for (const ExprPtr& value : macro.defaults) VITRO_TRY(resolve_expr(*value, inner));
    VITRO_TRY(resolve_body(s.body, inner));
    for (const std::string& name : macro.parameters) macro.slots.push_back(symbols.slot_of(name, function));
    if (macro.uses_caller && !macro.has_caller_parameter) macro.slots.push_back(symbols.slot_of("caller", function));
    if (macro.uses_kwargs) macro.slots.push_back(symbols.slot_of("kwargs", function));
    if (macro.uses_varargs) macro.slots.push_back(symbols.slot_of("varargs", function));
    macro.scope = symbols.scope_info(function);
    macro.n_slots = function.n_slots;
    current_ = function.outer;
    return {};
  }

  Status resolve_expr(Expr& e, Frame frame) {
    if (e.kind == ExprKind::kName || e.kind == ExprKind::kNsRef) {
      e.slot = frame.symbols->slot_of(e.name, *current_);
      return {};
    }
    if (e.kind == ExprKind::kConditional) frame.is_soft = true;
    if (e.kind == ExprKind::kFilter) {
      e.filter = find_filter(e.name);
      if (e.filter == nullptr && !frame.is_soft) return syntax_error(e.pos, "No filter named '{}'.", e.name);
    }
    if (e.kind == ExprKind::kTest) {
      e.test = find_test(e.name);
      if (e.test == nullptr && !frame.is_soft) return syntax_error(e.pos, "No test named '{}'.", e.name);
    }
    for (const ExprPtr& child : e.children) {
      if (child) VITRO_TRY(resolve_expr(*child, frame));
    }
    for (const Keyword& keyword : e.keywords) VITRO_TRY(resolve_expr(*keyword.value, frame));
    if (e.star_args) VITRO_TRY(resolve_expr(*e.star_args, frame));
    return e.star_kwargs ? resolve_expr(*e.star_kwargs, frame) : Status();
  }

  Function* current_ = nullptr;
};

}  // namespace

Result<RootInfo> resolve_scopes(Body& body) { return Resolver().run(body); }

}  // namespace vitro::jinja
