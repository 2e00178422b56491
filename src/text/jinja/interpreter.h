// Interpreter: walks the tree of one program once. Not safe to share.
#pragma once

#include <optional>
#include <unordered_map>

#include "text/jinja/arguments.h"
#include "text/jinja/program.h"

namespace vitro::jinja {

constexpr int kMaxWalkDepth = 1200;  ///< expressions and statements inside each other, calls included

/// Variables of one running function.
struct Activation : Object {
  Activation(Budget* b, int n_slots, std::shared_ptr<Activation> around);
  std::vector<Val> slots;
  std::shared_ptr<Activation> outer;
  bool is_kept = false;
};

struct MacroObject : Object {
  MacroObject(Budget* b, const Stmt& s, std::shared_ptr<Activation> c)
      : Object(b, sizeof(MacroObject)), statement(s), closure(std::move(c)) {}
  const Stmt& statement;
  std::shared_ptr<Activation> closure;
};

/// A running for loop, and the `loop` that its body sees.
struct LoopObject : Object {
  LoopObject(Budget* b, const Stmt& s, Val values)
      : Object(b, sizeof(LoopObject)), statement(s), iterable(std::move(values)), walker(iterable) {}
  const Stmt& statement;
  Val iterable;
  Walker walker;
  std::shared_ptr<Activation> around;    ///< where the loop stands
  std::shared_ptr<Activation> filter;    ///< variables of the loop's filter, once it has run
  std::optional<std::vector<Val>> rest;  ///< what is left, once the length was asked for
  size_t next_rest = 0;
  int64_t index0 = -1;
  int64_t depth0 = 0;
  std::optional<int64_t> length;
  bool is_peeked = false;
  std::optional<Val> after;  ///< the peeked value; nothing at the end
  Val current, before, changed;
};

class Interpreter {
 public:
  Interpreter(const Program& program, Runtime& rt, Kwargs variables);
  Result<Rendering> run();

 private:
  enum class Flow { kNormal, kBreak, kContinue };

  // statements: interpreter.cc
  Result<Flow> exec(const Body& body);
  Result<Flow> exec_statement(const Stmt& s);
  Result<Flow> exec_plain(const Stmt& s);
  Status exec_print(const Stmt& s);
  Result<Flow> exec_if(const Stmt& s);
  Status exec_set(const Stmt& s);
  Result<Flow> exec_set_block(const Stmt& s);
  Result<Flow> exec_filter_block(const Stmt& s);
  Result<Flow> exec_with(const Stmt& s);
  Status exec_block(const Stmt& s);
  Status exec_macro(const Stmt& s);
  Status exec_call_block(const Stmt& s);
  Status exec_generation(const Stmt& s);
  Result<Flow> capture(const Body& body, Val& text);
  void enter(const ScopeInfo& scope);
  void leave(const ScopeInfo& scope);
  Status check_namespaces(const Expr& target);
  Status assign(const Expr& target, const Val& value);
  void export_names(const Expr& target);

  // loops: loops.cc
  Result<Flow> exec_for(const Stmt& s);
  Result<Flow> run_loop(const Stmt& s, const Val& loop_value);
  void end_loop(const Val& loop_value);
  Result<Flow> run_loop_body(const Stmt& s, const Val& loop_value, bool& is_else);
  Result<Val> run_recursive(const Stmt& s, const Val& iterable, std::shared_ptr<Activation> around, int64_t depth0);
  Result<std::optional<Val>> pull(LoopObject& loop);
  Result<bool> passes_filter(LoopObject& loop, const Val& item);
  Result<std::optional<Val>> advance(LoopObject& loop);
  Status peek(LoopObject& loop);
  Result<int64_t> loop_length(LoopObject& loop);
  Result<Val> loop_attribute(const Val& loop_value, std::string_view name);
  Result<Val> call_loop_method(LoopObject& loop, std::string_view name, Arguments args);

  // expressions: evaluate.cc
  Result<Val> eval(const Expr& e);
  Result<Val> eval_located(const Expr& e);
  Result<Val> eval_name(const Expr& e);
  Result<Val> eval_tuple(const Expr& e);
  Result<Val> eval_dict(const Expr& e);
  Result<Val> eval_getitem(const Expr& e);
  Result<Val> eval_compare(const Expr& e);
  Result<Val> eval_concat(const Expr& e);
  Result<Val> eval_conditional(const Expr& e);
  Result<Val> eval_filter(const Expr& e, const Val* body = nullptr);
  Result<Val> eval_test(const Expr& e);
  Result<Val> eval_call(const Expr& e, const Val* caller = nullptr);
  Result<Arguments> eval_arguments(const Expr& e);
  Status add_star_arguments(const Expr& e, Arguments& out);
  Result<Val> call(const Val& callee, Arguments args);
  Result<Val> call_macro(const MacroObject& macro, Arguments args);
  Result<std::vector<Val>> macro_values(const MacroObject& macro, Arguments args);
  Status set_defaults(const MacroInfo& macro);
  Val make_macro(const Stmt& s);

  Val& slot(Slot where);
  Val resolve(const std::string& name);
  void keep(const std::shared_ptr<Activation>& activation);
  /// The error with the place where it arose, unless it has one.
  template <class T>
  Result<T> located(Result<T> result, Pos pos);

  const Program& program_;
  Runtime& rt_;
  std::unordered_map<std::string, Val> context_;
  std::shared_ptr<Activation> activation_;
  TextBuilder* out_ = nullptr;
  TextBuilder* root_out_ = nullptr;
  std::vector<ByteRange> generated_;
  int walk_depth_ = 0;
  int call_depth_ = 0;
  bool is_located_ = false;
};

template <class T>
Result<T> Interpreter::located(Result<T> result, Pos pos) {
  if (result || is_located_) return result;
  is_located_ = true;
  return fail(result.error().code, "line {}, column {}: {}", pos.line, pos.column, result.error().message);
}

}  // namespace vitro::jinja
