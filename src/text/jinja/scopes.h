// Scopes: gives every variable of a template its slot, by the rules of jinja2's compiler, which decide at compile time
// whether a name is a local of this scope, one of a scope around it, or looked up in the context. Also finds filters
// and tests, and statements in places where they mean nothing.
#pragma once

#include "text/jinja/ast.h"

namespace vitro::jinja {

/// What the outermost function of a template needs.
struct RootInfo {
  ScopeInfo scope;
  int n_slots = 0;
};

/// Resolves the tree in place. Corrupt: a filter or test that does not exist where one is sure to be used; break
/// outside a loop.
Result<RootInfo> resolve_scopes(Body& body);

}  // namespace vitro::jinja
