// The variables of one scope of a template, as jinja2's idtracking keeps them: which names are stored here, and how
// each gets its first value.
#pragma once

#include <map>
#include <set>
#include <string>

#include "text/jinja/ast.h"

namespace vitro::jinja {

/// A run of the interpreter with slots of its own: the template, a macro, a recursive loop, a loop's filter. Scopes
/// inside one share slots by nesting level and name.
struct Function {
  explicit Function(Function* around) : outer(around), depth(around ? around->depth + 1 : 0) {}
  int index_of(int level, const std::string& name);

  Function* outer;
  int depth;
  std::map<std::pair<int, std::string>, int> slots;
  int n_slots = 0;
};

class Symbols {
 public:
  Symbols(Function& function, Symbols* parent, int level = -1)
      : function_(&function), parent_(parent), level_(level >= 0 ? level : parent->level_ + 1) {}

  void declare_parameter(const std::string& name);
  /// Statements and expressions in the order in which the reference's compiler visits them; does not enter inner
  /// scopes.
  void visit(const Body& body);
  void visit(const Expr& expr);
  /// A target whose names have a value from the start.
  void visit_parameter(const Expr& target);

  /// Slot of a name seen from `from`. Every name was visited before.
  Slot slot_of(const std::string& name, const Function& from);
  /// What entering this scope does.
  ScopeInfo scope_info(const Function& from);

 private:
  enum class What { kParameter, kResolve, kAlias, kUndefined };
  struct Entry {
    What what;
    Symbols* alias_of;
  };

  void visit_statement(const Stmt& statement);
  void visit_if(const Stmt& statement);
  void visit_target(const Expr& target);
  void load(const std::string& name);
  void store(const std::string& name);
  void update_from(std::vector<Symbols>& branches);
  Symbols* find(const std::string& name);
  Slot slot_in(Symbols& owner, const std::string& name, const Function& from) const;

  Function* function_;
  Symbols* parent_;
  int level_;
  std::map<std::string, Entry> entries_;
  std::set<std::string> stores_;
};

}  // namespace vitro::jinja
