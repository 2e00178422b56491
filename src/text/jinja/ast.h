// The parsed template. Names are resolved to slots by scopes.cc; the interpreter walks the tree as it is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/jinja/lexer.h"
#include "text/jinja/operators.h"

namespace vitro::jinja {

struct FilterEntry;
struct TestEntry;

/// Where a variable lives: how many functions out, and which slot there.
struct Slot {
  int hops = 0;
  int index = -1;
};

enum class ExprKind : uint8_t {
  kConst,
  kName,
  kNsRef,  ///< ns.attribute as the target of an assignment
  kTuple,
  kList,
  kDict,
  kGetattr,
  kGetitem,
  kSlice,  ///< only as the second child of kGetitem
  kCall,
  kFilter,
  kTest,
  kBinary,
  kCompare,
  kConcat,
  kAnd,
  kOr,
  kNot,
  kNeg,
  kPos,
  kConditional
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct Keyword {
  std::string name;
  ExprPtr value;
};

struct Expr {
  ExprKind kind = ExprKind::kConst;
  Pos pos;
  int height = 1;  ///< of the tree below; bounded, so that no walk is deep
  /// Children by kind: call and filter: callee or value first (null in a filter block), then arguments; dict: key,
  /// value in turn; conditional: value, test, other or null; slice: start, stop, step, each or null.
  std::vector<ExprPtr> children;
  std::string name;  ///< name, attribute, filter, test
  Val value;         ///< constant
  std::vector<Keyword> keywords;
  ExprPtr star_args;
  ExprPtr star_kwargs;
  BinaryOp binary_op = BinaryOp::kAdd;
  std::vector<CompareOp> compare_ops;
  Slot slot;
  const FilterEntry* filter = nullptr;
  const TestEntry* test = nullptr;
};

enum class StmtKind : uint8_t {
  kText,
  kPrint,
  kIf,
  kFor,
  kSet,
  kSetBlock,
  kMacro,
  kCallBlock,
  kFilterBlock,
  kGeneration,
  kWith,
  kBlock,
  kBreak,
  kContinue
};

/// What a scope does with a variable when it is entered.
struct Load {
  enum class What { kParameter, kResolve, kAlias, kUndefined };
  What what;
  Slot target;
  Slot source;       ///< of an alias
  std::string name;  ///< to resolve
};

/// A scope's variables, in the order in which they are loaded.
struct ScopeInfo {
  std::vector<Load> loads;
};

struct Stmt;
using StmtPtr = std::unique_ptr<Stmt>;
using Body = std::vector<StmtPtr>;

struct Branch {
  ExprPtr test;  ///< null in else
  Body body;
};

/// The body of a macro or of a call block.
struct MacroInfo {
  std::vector<std::string> parameters;
  std::vector<ExprPtr> defaults;  ///< of the last parameters
  std::vector<Slot> slots;        ///< of the parameters, then caller, kwargs, varargs where they are used
  bool uses_caller = false;
  bool uses_kwargs = false;
  bool uses_varargs = false;
  bool has_caller_parameter = false;
  ScopeInfo scope;
  int n_slots = 0;
};

struct Stmt {
  StmtKind kind = StmtKind::kText;
  Pos pos;
  std::string text;  ///< text; name of a macro or block
  ExprPtr target;    ///< set, for, set block
  ExprPtr value;     ///< print, set, the call, the iterated; the filter of a filter block or set block (may be null)
  Body body;
  Body else_body;
  std::vector<Branch> branches;  ///< if
  ExprPtr test;                  ///< filter of a for
  std::vector<ExprPtr> targets;  ///< with
  std::vector<ExprPtr> values;
  bool is_recursive = false;
  bool uses_loop = false;    ///< a for whose body speaks of `loop`
  bool is_exported = false;  ///< a set or macro at the top, which every scope can see
  Slot slot;                 ///< of a macro's name
  Slot loop_slot;
  ScopeInfo scope;  ///< of the body
  ScopeInfo else_scope;
  ScopeInfo test_scope;
  ExprPtr test_target;  ///< the target again, as the filter's own variables
  int n_slots = 0;      ///< of a recursive loop's or a block's own function
  int n_test_slots = 0;
  std::unique_ptr<MacroInfo> macro;
};

}  // namespace vitro::jinja
