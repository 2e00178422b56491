#include "text/jinja/interpreter.h"

#include "text/jinja/attributes.h"
#include "text/jinja/filters.h"
#include "text/jinja/lexer.h"
#include "text/jinja/parser.h"
#include "text/jinja/print.h"

namespace vitro::jinja {
namespace {

void empty_activation(Object& object) { static_cast<Activation&>(object).slots.clear(); }

}  // namespace

Activation::Activation(Budget* b, int n_slots, std::shared_ptr<Activation> around)
    : Object(b, sizeof(Activation) + static_cast<size_t>(n_slots) * sizeof(Val)),
      slots(static_cast<size_t>(n_slots)),
      outer(std::move(around)) {}

Result<std::shared_ptr<const Program>> Program::compile(std::string_view source) {
  auto program = std::make_shared<Program>();
  VITRO_TRY_ASSIGN(std::vector<Token> tokens, lex(source));
  VITRO_TRY_ASSIGN(program->body_, parse_template(std::move(tokens)));
  VITRO_TRY_ASSIGN(program->root_, resolve_scopes(program->body_));
  return std::shared_ptr<const Program>(std::move(program));
}

Result<Rendering> run_program(const Program& program, Runtime& rt, Kwargs variables) {
  return Interpreter(program, rt, std::move(variables)).run();
}

Interpreter::Interpreter(const Program& program, Runtime& rt, Kwargs variables) : program_(program), rt_(rt) {
  for (const std::string_view name : builtin_names()) {
    context_.emplace(name, rt.make<FunctionObject>(Kind::kFunction, std::string(name)));
  }
  for (auto& [name, value] : variables) context_.insert_or_assign(std::move(name), std::move(value));
  rt.loop_attribute = [this](const Val& loop, std::string_view name) { return loop_attribute(loop, name); };
}

Result<Rendering> Interpreter::run() {
  TextBuilder out(rt_);
  out_ = root_out_ = &out;
  activation_ = std::make_shared<Activation>(&rt_.budget, program_.root().n_slots, nullptr);
  enter(program_.root().scope);
  Result<Flow> flow = exec(program_.body());
  rt_.loop_attribute = nullptr;
  VITRO_TRY(flow);
  VITRO_TRY(rt_.budget.check());
  VITRO_TRY_ASSIGN(MarkedText text, out.take());
  return Rendering{std::move(text), std::move(generated_)};
}

Val& Interpreter::slot(Slot where) {
  Activation* activation = activation_.get();
  for (int i = 0; i < where.hops; ++i) activation = activation->outer.get();
  return activation->slots[static_cast<size_t>(where.index)];
}

Val Interpreter::resolve(const std::string& name) {
  const auto it = context_.find(name);
  return it == context_.end() ? Val() : it->second;
}

void Interpreter::enter(const ScopeInfo& scope) {
  for (const Load& load : scope.loads) {
    switch (load.what) {
      case Load::What::kParameter:
        break;
      case Load::What::kResolve:
        slot(load.target) = resolve(load.name);
        break;
      case Load::What::kAlias:
        slot(load.target) = slot(load.source);
        break;
      case Load::What::kUndefined:
        slot(load.target) = Val();
        break;
    }
  }
}

/// What a scope set is gone behind it, also for macros that were made inside.
void Interpreter::leave(const ScopeInfo& scope) {
  for (const Load& load : scope.loads) slot(load.target) = Val();
}

void Interpreter::keep(const std::shared_ptr<Activation>& activation) {
  for (std::shared_ptr<Activation> a = activation; a != nullptr && !a->is_kept; a = a->outer) {
    a->is_kept = true;
    rt_.keep(a, empty_activation);
  }
}

Result<Interpreter::Flow> Interpreter::exec(const Body& body) {
  for (const StmtPtr& statement : body) {
    VITRO_TRY_ASSIGN(const Flow flow, exec_statement(*statement));
    if (flow != Flow::kNormal) return flow;
  }
  return Flow::kNormal;
}

Result<Interpreter::Flow> Interpreter::exec_statement(const Stmt& s) {
  rt_.budget.step();
  VITRO_TRY(located(rt_.budget.check(), s.pos));
  if (walk_depth_ >= kMaxWalkDepth) {
    return located(Result<Flow>(raise("more than {} statements and expressions inside each other", kMaxWalkDepth)),
                   s.pos);
  }
  ++walk_depth_;
  Result<Flow> flow = located(exec_plain(s), s.pos);
  --walk_depth_;
  return flow;
}

Result<Interpreter::Flow> Interpreter::exec_plain(const Stmt& s) {
  switch (s.kind) {
    case StmtKind::kText:
      out_->append(s.text);
      return Flow::kNormal;
    case StmtKind::kPrint:
      VITRO_TRY(exec_print(s));
      return Flow::kNormal;
    case StmtKind::kIf:
      return exec_if(s);
    case StmtKind::kFor:
      return exec_for(s);
    case StmtKind::kSet:
      VITRO_TRY(exec_set(s));
      return Flow::kNormal;
    case StmtKind::kSetBlock:
      return exec_set_block(s);
    case StmtKind::kMacro:
      VITRO_TRY(exec_macro(s));
      return Flow::kNormal;
    case StmtKind::kCallBlock:
      VITRO_TRY(exec_call_block(s));
      return Flow::kNormal;
    case StmtKind::kFilterBlock:
      return exec_filter_block(s);
    case StmtKind::kGeneration:
      VITRO_TRY(exec_generation(s));
      return Flow::kNormal;
    case StmtKind::kWith:
      return exec_with(s);
    case StmtKind::kBlock:
      VITRO_TRY(exec_block(s));
      return Flow::kNormal;
    case StmtKind::kBreak:
      return Flow::kBreak;
    case StmtKind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kNormal;
}

Status Interpreter::exec_print(const Stmt& s) {
  VITRO_TRY_ASSIGN(const Val value, eval(*s.value));
  return located(print_value(rt_, *out_, value), s.value->pos);
}

Result<Interpreter::Flow> Interpreter::exec_if(const Stmt& s) {
  for (const Branch& branch : s.branches) {
    if (branch.test) {
      VITRO_TRY_ASSIGN(const Val test, eval(*branch.test));
      if (!is_true(test)) continue;
    }
    return exec(branch.body);
  }
  return Flow::kNormal;
}

Status Interpreter::check_namespaces(const Expr& target) {
  if (target.kind == ExprKind::kNsRef) {
    const Val& object = slot(target.slot);
    if (!object.is(Kind::kNamespace)) {
      return located(Status(raise("cannot assign attribute on non-namespace object")), target.pos);
    }
  }
  for (const ExprPtr& child : target.children) VITRO_TRY(check_namespaces(*child));
  return {};
}

Status Interpreter::assign(const Expr& target, const Val& value) {
  if (target.kind == ExprKind::kName) {
    slot(target.slot) = value;
    return {};
  }
  if (target.kind == ExprKind::kNsRef) {
    const std::string& name = target.value.as_string().text();
    if (name.starts_with('_')) {
      return raise("Chat templates cannot store underscore-prefixed attributes on a namespace, but got '{}'.", name);
    }
    set_attribute(slot(target.slot).as<NamespaceObject>(), target.value, value);
    return {};
  }
  if (!make_walker(value)) return raise("cannot unpack non-iterable {} object", type_name(value));
  VITRO_TRY_ASSIGN(const std::vector<Val> values, values_of(rt_, value));
  const size_t n = target.children.size();
  if (values.size() < n) return raise("not enough values to unpack (expected {}, got {})", n, values.size());
  if (values.size() > n) return raise("too many values to unpack (expected {})", n);
  for (size_t i = 0; i < n; ++i) VITRO_TRY(assign(*target.children[i], values[i]));
  return {};
}

void Interpreter::export_names(const Expr& target) {
  if (target.kind == ExprKind::kName) context_.insert_or_assign(target.name, slot(target.slot));
  for (const ExprPtr& child : target.children) export_names(*child);
}

Status Interpreter::exec_set(const Stmt& s) {
  VITRO_TRY(check_namespaces(*s.target));
  VITRO_TRY_ASSIGN(const Val value, eval(*s.value));
  VITRO_TRY(assign(*s.target, value));
  if (s.is_exported) export_names(*s.target);
  return {};
}

Result<Interpreter::Flow> Interpreter::capture(const Body& body, Val& text) {
  TextBuilder buffer(rt_);
  TextBuilder* const outer = std::exchange(out_, &buffer);
  const Result<Flow> flow = exec(body);
  out_ = outer;
  VITRO_TRY(flow);
  VITRO_TRY_ASSIGN(text, buffer.finish());
  return *flow;
}

Result<Interpreter::Flow> Interpreter::exec_set_block(const Stmt& s) {
  enter(s.scope);
  Val text;
  VITRO_TRY_ASSIGN(const Flow flow, capture(s.body, text));
  if (flow != Flow::kNormal) return flow;
  if (s.value) {
    VITRO_TRY_ASSIGN(text, eval_filter(*s.value, &text));
  }
  VITRO_TRY(check_namespaces(*s.target));
  VITRO_TRY(assign(*s.target, text));
  if (s.is_exported) export_names(*s.target);
  leave(s.scope);
  return Flow::kNormal;
}

Result<Interpreter::Flow> Interpreter::exec_filter_block(const Stmt& s) {
  enter(s.scope);
  Val text;
  VITRO_TRY_ASSIGN(const Flow flow, capture(s.body, text));
  if (flow != Flow::kNormal) return flow;
  VITRO_TRY_ASSIGN(const Val value, eval_filter(*s.value, &text));
  VITRO_TRY(print_value(rt_, *out_, value));
  leave(s.scope);
  return Flow::kNormal;
}

Result<Interpreter::Flow> Interpreter::exec_with(const Stmt& s) {
  enter(s.scope);
  for (size_t i = 0; i < s.targets.size(); ++i) {
    VITRO_TRY_ASSIGN(const Val value, eval(*s.values[i]));
    VITRO_TRY(assign(*s.targets[i], value));
  }
  VITRO_TRY_ASSIGN(const Flow flow, exec(s.body));
  if (flow == Flow::kNormal) leave(s.scope);
  return flow;
}

Status Interpreter::exec_block(const Stmt& s) {
  const auto outer = std::exchange(activation_, std::make_shared<Activation>(&rt_.budget, s.n_slots, activation_));
  enter(s.scope);
  const Result<Flow> flow = exec(s.body);
  activation_ = outer;
  VITRO_TRY(flow);
  return {};
}

Val Interpreter::make_macro(const Stmt& s) {
  keep(activation_);
  return rt_.make<MacroObject>(Kind::kMacro, s, activation_);
}

Status Interpreter::exec_macro(const Stmt& s) {
  const Val macro = make_macro(s);
  slot(s.slot) = macro;
  if (s.is_exported) context_.insert_or_assign(s.text, macro);
  return {};
}

Status Interpreter::exec_call_block(const Stmt& s) {
  const Val caller = make_macro(s);
  VITRO_TRY_ASSIGN(const Val text, eval_call(*s.value, &caller));
  return print_value(rt_, *out_, text);
}

Status Interpreter::exec_generation(const Stmt& s) {
  const Val body = make_macro(s);
  VITRO_TRY_ASSIGN(const Val text, call(body, {}));
  const size_t begin = out_->size();
  VITRO_TRY(print_value(rt_, *out_, text));
  if (out_ == root_out_ && out_->size() > begin) generated_.push_back({begin, out_->size()});
  return {};
}

}  // namespace vitro::jinja
