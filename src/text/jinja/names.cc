#include "text/jinja/names.h"

namespace vitro::jinja {
namespace {

/// jinja2's UndeclaredNameVisitor: a store takes a name out of the search, a read finds it.
class NameVisitor {
 public:
  explicit NameVisitor(std::set<std::string> names) : names_(std::move(names)) {}

  void visit(const Body& body) {
    for (const StmtPtr& statement : body) visit(*statement);
  }
  std::set<std::string> take() { return std::move(found_); }

 private:
  void visit(const Stmt& s) {
    if (s.kind == StmtKind::kBlock) return;
    if (s.kind == StmtKind::kMacro) names_.erase(s.text);
    if (s.macro) visit_signature(*s.macro);
    if (s.target) visit_target(*s.target);
    if (s.value) visit(*s.value);
    for (const ExprPtr& target : s.targets) visit_target(*target);
    for (const ExprPtr& value : s.values) visit(*value);
    for (const Branch& branch : s.branches) {
      if (branch.test) visit(*branch.test);
      visit(branch.body);
    }
    visit(s.body);
    visit(s.else_body);
    if (s.test) visit(*s.test);
  }

  void visit_signature(const MacroInfo& macro) {
    for (const std::string& name : macro.parameters) names_.erase(name);
    for (const ExprPtr& value : macro.defaults) visit(*value);
  }

  void visit_target(const Expr& target) {
    if (target.kind == ExprKind::kName) names_.erase(target.name);
    for (const ExprPtr& child : target.children) visit_target(*child);
  }

  void visit(const Expr& e) {
    if (e.kind == ExprKind::kName && names_.contains(e.name)) found_.insert(e.name);
    for (const ExprPtr& child : e.children) {
      if (child) visit(*child);
    }
    for (const Keyword& keyword : e.keywords) visit(*keyword.value);
    if (e.star_args) visit(*e.star_args);
    if (e.star_kwargs) visit(*e.star_kwargs);
  }

  std::set<std::string> names_;
  std::set<std::string> found_;
};

}  // namespace

std::set<std::string> undeclared_names(const Body& body, std::set<std::string> names) {
  NameVisitor visitor(std::move(names));
  visitor.visit(body);
  return visitor.take();
}

bool is_name_loaded(const Body& body, const std::string& name) { return !undeclared_names(body, {name}).empty(); }

}  // namespace vitro::jinja
