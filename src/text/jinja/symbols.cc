#include "text/jinja/symbols.h"

namespace vitro::jinja {

int Function::index_of(int level, const std::string& name) {
  const auto [it, is_new] = slots.try_emplace({level, name}, n_slots);
  n_slots += is_new ? 1 : 0;
  return it->second;
}

void Symbols::declare_parameter(const std::string& name) {
  stores_.insert(name);
  entries_[name] = {What::kParameter, nullptr};
}

Symbols* Symbols::find(const std::string& name) {
  for (Symbols* scope = this; scope != nullptr; scope = scope->parent_) {
    if (scope->entries_.contains(name)) return scope;
  }
  return nullptr;
}

void Symbols::load(const std::string& name) {
  if (find(name) == nullptr) entries_[name] = {What::kResolve, nullptr};
}

void Symbols::store(const std::string& name) {
  stores_.insert(name);
  if (entries_.contains(name)) return;
  Symbols* outer = parent_ ? parent_->find(name) : nullptr;
  entries_[name] = outer ? Entry{What::kAlias, outer} : Entry{What::kUndefined, nullptr};
}

void Symbols::visit(const Body& body) {
  for (const StmtPtr& statement : body) visit_statement(*statement);
}

void Symbols::visit_statement(const Stmt& s) {
  switch (s.kind) {
    case StmtKind::kPrint:
    case StmtKind::kFor:
    case StmtKind::kCallBlock:
    case StmtKind::kFilterBlock:
      visit(*s.value);
      return;
    case StmtKind::kIf:
      visit_if(s);
      return;
    case StmtKind::kSet:
      visit(*s.value);
      visit_target(*s.target);
      return;
    case StmtKind::kSetBlock:
      visit_target(*s.target);
      return;
    case StmtKind::kMacro:
      store(s.text);
      return;
    case StmtKind::kWith:
      for (const ExprPtr& value : s.values) visit(*value);
      return;
    default:
      return;
  }
}

/// Each branch sees what was known before; afterwards a name that only some branches store takes its value from around
/// or from the context where no branch stored it.
void Symbols::visit_if(const Stmt& s) {
  std::vector<Symbols> branches;
  visit(*s.branches.front().test);
  for (size_t i = 0; i < s.branches.size(); ++i) {
    Symbols branch = *this;
    // The reference visits all elif branches as one after the other.
    if (i > 1 && s.branches[i].test) branch = branches.back();
    if (i > 0 && s.branches[i].test) branch.visit(*s.branches[i].test);
    branch.visit(s.branches[i].body);
    if (i > 1 && s.branches[i].test) {
      branches.back() = std::move(branch);
    } else {
      branches.push_back(std::move(branch));
    }
  }
  update_from(branches);
}

void Symbols::update_from(std::vector<Symbols>& branches) {
  std::set<std::string> new_stores;
  for (const Symbols& branch : branches) {
    for (const std::string& name : branch.stores_) {
      if (!stores_.contains(name)) new_stores.insert(name);
    }
  }
  for (Symbols& branch : branches) {
    for (const auto& [name, entry] : branch.entries_) entries_.insert_or_assign(name, entry);
    stores_.insert(branch.stores_.begin(), branch.stores_.end());
  }
  for (const std::string& name : new_stores) {
    Symbols* outer = parent_ ? parent_->find(name) : nullptr;
    entries_[name] = outer ? Entry{What::kAlias, outer} : Entry{What::kResolve, nullptr};
  }
}

void Symbols::visit(const Expr& e) {
  if (e.kind == ExprKind::kName || e.kind == ExprKind::kNsRef) {
    load(e.name);
    return;
  }
  for (const ExprPtr& child : e.children) {
    if (child) visit(*child);
  }
  for (const Keyword& keyword : e.keywords) visit(*keyword.value);
  if (e.star_args) visit(*e.star_args);
  if (e.star_kwargs) visit(*e.star_kwargs);
}

void Symbols::visit_target(const Expr& target) {
  if (target.kind == ExprKind::kName) store(target.name);
  if (target.kind == ExprKind::kNsRef) load(target.name);
  for (const ExprPtr& child : target.children) visit_target(*child);
}

void Symbols::visit_parameter(const Expr& target) {
  if (target.kind == ExprKind::kName) declare_parameter(target.name);
  for (const ExprPtr& child : target.children) visit_parameter(*child);
}

Slot Symbols::slot_in(Symbols& owner, const std::string& name, const Function& from) const {
  return {from.depth - owner.function_->depth, owner.function_->index_of(owner.level_, name)};
}

Slot Symbols::slot_of(const std::string& name, const Function& from) {
  Symbols* owner = find(name);
  if (owner == nullptr) {
    load(name);
    owner = this;
  }
  return slot_in(*owner, name, from);
}

ScopeInfo Symbols::scope_info(const Function& from) {
  ScopeInfo out;
  for (const auto& [name, entry] : entries_) {
    Load load{Load::What::kUndefined, slot_in(*this, name, from), {}, name};
    if (entry.what == What::kParameter) load.what = Load::What::kParameter;
    if (entry.what == What::kResolve) load.what = Load::What::kResolve;
    if (entry.what == What::kAlias) {
      load.what = Load::What::kAlias;
      load.source = slot_in(*entry.alias_of, name, from);
    }
    out.loads.push_back(std::move(load));
  }
  return out;
}

}  // namespace vitro::jinja
