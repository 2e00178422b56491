// Expressions and calls.
#include "text/jinja/attributes.h"
#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/print.h"

namespace vitro::jinja {

Result<Val> Interpreter::eval(const Expr& e) {
  if (e.kind == ExprKind::kConst) return e.value;
  rt_.budget.step();
  VITRO_TRY(located(rt_.budget.check(), e.pos));
  if (walk_depth_ >= kMaxWalkDepth) {
    return located(Result<Val>(raise("more than {} statements and expressions inside each other", kMaxWalkDepth)),
                   e.pos);
  }
  ++walk_depth_;
  Result<Val> value = located(eval_located(e), e.pos);
  --walk_depth_;
  return value;
}

Result<Val> Interpreter::eval_located(const Expr& e) {
  switch (e.kind) {
    case ExprKind::kConst:
      return e.value;
    case ExprKind::kName:
      return eval_name(e);
    case ExprKind::kTuple:
    case ExprKind::kList:
      return eval_tuple(e);
    case ExprKind::kDict:
      return eval_dict(e);
    case ExprKind::kGetattr: {
      VITRO_TRY_ASSIGN(const Val object, eval(*e.children[0]));
      return get_attribute(rt_, object, e.value);
    }
    case ExprKind::kGetitem:
      return eval_getitem(e);
    case ExprKind::kCall:
      return eval_call(e);
    case ExprKind::kFilter:
      return eval_filter(e);
    case ExprKind::kTest:
      return eval_test(e);
    case ExprKind::kBinary: {
      VITRO_TRY_ASSIGN(const Val left, eval(*e.children[0]));
      VITRO_TRY_ASSIGN(const Val right, eval(*e.children[1]));
      return binary(rt_, e.binary_op, left, right);
    }
    case ExprKind::kCompare:
      return eval_compare(e);
    case ExprKind::kConcat:
      return eval_concat(e);
    case ExprKind::kAnd:
    case ExprKind::kOr: {
      VITRO_TRY_ASSIGN(Val left, eval(*e.children[0]));
      return is_true(left) == (e.kind == ExprKind::kOr) ? Result<Val>(std::move(left)) : eval(*e.children[1]);
    }
    case ExprKind::kNot:
    case ExprKind::kNeg:
    case ExprKind::kPos: {
      VITRO_TRY_ASSIGN(const Val value, eval(*e.children[0]));
      if (e.kind == ExprKind::kNot) return Val::boolean(!is_true(value));
      return e.kind == ExprKind::kNeg ? negate(rt_, value) : plus(value);
    }
    case ExprKind::kConditional:
      return eval_conditional(e);
    case ExprKind::kNsRef:
    case ExprKind::kSlice:
      break;
  }
  return fail(ErrorCode::kInternal, "an expression of a kind that has no value");
}

Result<Val> Interpreter::eval_name(const Expr& e) {
  const Val& value = slot(e.slot);
  if (value.is_missing()) return rt_.undefined_name(e.name);
  return value;
}

Result<Val> Interpreter::eval_tuple(const Expr& e) {
  std::vector<Val> values;
  values.reserve(e.children.size());
  for (const ExprPtr& child : e.children) {
    VITRO_TRY_ASSIGN(Val value, eval(*child));
    values.push_back(std::move(value));
  }
  return e.kind == ExprKind::kTuple ? rt_.tuple(std::move(values)) : rt_.list(std::move(values));
}

Result<Val> Interpreter::eval_dict(const Expr& e) {
  DictBuilder dict(rt_);
  for (size_t i = 0; i + 1 < e.children.size(); i += 2) {
    VITRO_TRY_ASSIGN(const Val key, eval(*e.children[i]));
    VITRO_TRY_ASSIGN(const Val value, eval(*e.children[i + 1]));
    VITRO_TRY(dict.set(key, value));
  }
  return dict.finish();
}

Result<Val> Interpreter::eval_getitem(const Expr& e) {
  VITRO_TRY_ASSIGN(const Val object, eval(*e.children[0]));
  const Expr& key = *e.children[1];
  if (key.kind != ExprKind::kSlice) {
    VITRO_TRY_ASSIGN(const Val item, eval(key));
    return get_item(rt_, object, item);
  }
  std::vector<Val> parts;
  for (const ExprPtr& part : key.children) {
    parts.emplace_back();
    if (part) {
      VITRO_TRY_ASSIGN(parts.back(), eval(*part));
    }
  }
  return get_slice(rt_, object, parts);
}

Result<Val> Interpreter::eval_compare(const Expr& e) {
  VITRO_TRY_ASSIGN(Val left, eval(*e.children[0]));
  for (size_t i = 0; i < e.compare_ops.size(); ++i) {
    VITRO_TRY_ASSIGN(Val right, eval(*e.children[i + 1]));
    VITRO_TRY_ASSIGN(const bool holds, compare(rt_, e.compare_ops[i], left, right));
    if (!holds) return Val::boolean(false);
    left = std::move(right);
  }
  return Val::boolean(true);
}

Result<Val> Interpreter::eval_concat(const Expr& e) {
  std::vector<Val> values;
  for (const ExprPtr& child : e.children) {
    VITRO_TRY_ASSIGN(Val value, eval(*child));
    values.push_back(std::move(value));
  }
  TextBuilder out(rt_);
  for (const Val& value : values) VITRO_TRY(print_value(rt_, out, value));
  return out.finish();
}

Result<Val> Interpreter::eval_conditional(const Expr& e) {
  VITRO_TRY_ASSIGN(const Val test, eval(*e.children[1]));
  if (is_true(test)) return eval(*e.children[0]);
  if (e.children[2]) return eval(*e.children[2]);
  return rt_.undefined(fmt::format(
      "the inline if-expression on line {} evaluated to false and no else section was defined.", e.pos.line));
}

Result<Val> Interpreter::eval_filter(const Expr& e, const Val* body) {
  Val value;
  if (e.children[0] == nullptr) {
    value = body ? *body : Val();
  } else if (body != nullptr && e.children[0]->kind == ExprKind::kFilter) {
    VITRO_TRY_ASSIGN(value, located(eval_filter(*e.children[0], body), e.children[0]->pos));
  } else {
    VITRO_TRY_ASSIGN(value, eval(*e.children[0]));
  }
  VITRO_TRY_ASSIGN(Arguments args, eval_arguments(e));
  if (e.filter == nullptr) return raise("No filter named '{}' found.", e.name);
  return apply_filter(rt_, *e.filter, value, std::move(args));
}

Result<Val> Interpreter::eval_test(const Expr& e) {
  VITRO_TRY_ASSIGN(const Val value, eval(*e.children[0]));
  VITRO_TRY_ASSIGN(Arguments args, eval_arguments(e));
  if (e.test == nullptr) return raise("No test named '{}' found.", e.name);
  VITRO_TRY_ASSIGN(const bool holds, apply_test(rt_, *e.test, value, std::move(args)));
  return Val::boolean(holds);
}

Result<Arguments> Interpreter::eval_arguments(const Expr& e) {
  Arguments out;
  for (size_t i = 1; i < e.children.size(); ++i) {
    VITRO_TRY_ASSIGN(Val value, eval(*e.children[i]));
    out.args.push_back(std::move(value));
  }
  for (const Keyword& keyword : e.keywords) {
    VITRO_TRY_ASSIGN(Val value, eval(*keyword.value));
    out.kwargs.emplace_back(keyword.name, std::move(value));
  }
  VITRO_TRY(add_star_arguments(e, out));
  return out;
}

Status Interpreter::add_star_arguments(const Expr& e, Arguments& out) {
  if (e.star_args) {
    VITRO_TRY_ASSIGN(const Val values, eval(*e.star_args));
    VITRO_TRY_ASSIGN(const std::vector<Val> more, values_of(rt_, values));
    out.args.insert(out.args.end(), more.begin(), more.end());
  }
  if (!e.star_kwargs) return {};
  VITRO_TRY_ASSIGN(const Val named, eval(*e.star_kwargs));
  if (!named.is(Kind::kDict)) return raise("argument after ** must be a mapping, not {}", type_name(named));
  for (const auto& [key, value] : named.as_dict().members) {
    if (!key.is_string()) return raise("keywords must be strings");
    const std::string& name = key.as_string().text();
    for (const auto& other : out.kwargs) {
      if (other.first == name) return raise("got multiple values for keyword argument '{}'", name);
      rt_.budget.step();
    }
    out.kwargs.emplace_back(name, value);
  }
  return {};
}

Result<Val> Interpreter::eval_call(const Expr& e, const Val* caller) {
  VITRO_TRY_ASSIGN(const Val callee, eval(*e.children[0]));
  VITRO_TRY_ASSIGN(Arguments args, eval_arguments(e));
  if (caller != nullptr) args.kwargs.emplace_back("caller", *caller);
  return call(callee, std::move(args));
}

Result<Val> Interpreter::call(const Val& callee, Arguments args) {
  switch (callee.kind()) {
    case Kind::kMacro:
      return call_macro(callee.as<MacroObject>(), std::move(args));
    case Kind::kFunction:
      return call_function(rt_, callee.as<FunctionObject>(), std::move(args));
    case Kind::kMethod: {
      const MethodObject& method = callee.as<MethodObject>();
      if (!method.self.is(Kind::kLoop)) return call_method(rt_, method, std::move(args));
      return call_loop_method(method.self.as<LoopObject>(), method.name, std::move(args));
    }
    case Kind::kLoop: {
      LoopObject& loop = callee.as<LoopObject>();
      if (!loop.statement.is_recursive) {
        return raise("The loop must have the 'recursive' marker to be called recursively.");
      }
      VITRO_TRY_ASSIGN(const std::vector<Val> bound, bind_arguments("loop", "iterable", std::move(args)));
      return run_recursive(loop.statement, bound[0], loop.around, loop.depth0 + 1);
    }
    case Kind::kJoiner: {
      VITRO_TRY(bind_arguments("joiner", "", std::move(args)));
      JoinerObject& joiner = callee.as<JoinerObject>();
      return std::exchange(joiner.is_used, true) ? joiner.separator : rt_.string("");
    }
    case Kind::kUndefined:
      return raise_undefined(callee);
    default:
      return raise("'{}' object is not callable", type_name(callee));
  }
}

Result<std::vector<Val>> Interpreter::macro_values(const MacroObject& macro, Arguments args) {
  const MacroInfo& info = *macro.statement.macro;
  const std::string name = macro.statement.text.empty() ? "None" : "'" + macro.statement.text + "'";
  const size_t n = info.parameters.size();
  std::vector<Val> out(args.args.begin(), args.args.begin() + static_cast<ptrdiff_t>(std::min(n, args.args.size())));
  const auto take = [&](std::string_view key) {
    const auto it = std::find_if(args.kwargs.begin(), args.kwargs.end(), [&](auto& kw) { return kw.first == key; });
    if (it == args.kwargs.end()) return Val();
    Val value = std::move(it->second);
    args.kwargs.erase(it);
    return value;
  };
  for (size_t i = out.size(); i < n; ++i) out.push_back(take(info.parameters[i]));
  if (info.uses_caller && !info.has_caller_parameter) {
    Val caller = take("caller");
    out.push_back(caller.is_missing() || caller.is_none() ? rt_.undefined("No caller defined") : std::move(caller));
  }
  if (info.uses_kwargs) {
    DictBuilder kwargs(rt_);
    for (const auto& [key, value] : args.kwargs) VITRO_TRY(kwargs.set(rt_.string(key), value));
    out.push_back(kwargs.finish());
  } else if (!args.kwargs.empty()) {
    return raise("macro {} takes no keyword argument '{}'", name, args.kwargs[0].first);
  }
  if (info.uses_varargs) {
    const size_t n_used = std::min(n, args.args.size());
    VITRO_TRY_ASSIGN(Val rest, rt_.tuple({args.args.begin() + static_cast<ptrdiff_t>(n_used), args.args.end()}));
    out.push_back(std::move(rest));
  } else if (args.args.size() > n) {
    return raise("macro {} takes not more than {} argument(s)", name, n);
  }
  return out;
}

Status Interpreter::set_defaults(const MacroInfo& macro) {
  const size_t n_required = macro.parameters.size() - macro.defaults.size();
  for (size_t i = 0; i < macro.parameters.size(); ++i) {
    if (!slot(macro.slots[i]).is_missing()) continue;
    if (i < n_required) {
      slot(macro.slots[i]) = rt_.undefined("parameter '" + macro.parameters[i] + "' was not provided");
    } else {
      VITRO_TRY_ASSIGN(Val value, eval(*macro.defaults[i - n_required]));
      slot(macro.slots[i]) = std::move(value);
    }
  }
  return {};
}

Result<Val> Interpreter::call_macro(const MacroObject& macro, Arguments args) {
  if (call_depth_ >= rt_.max_depth) return raise("calls are nested more than {} levels deep", rt_.max_depth);
  const MacroInfo& info = *macro.statement.macro;
  VITRO_TRY_ASSIGN(std::vector<Val> values, macro_values(macro, std::move(args)));
  const auto caller =
      std::exchange(activation_, std::make_shared<Activation>(&rt_.budget, info.n_slots, macro.closure));
  for (size_t i = 0; i < values.size(); ++i) slot(info.slots[i]) = std::move(values[i]);
  enter(info.scope);
  ++call_depth_;
  Val text;
  Status status = set_defaults(info);
  const Result<Flow> flow = status ? capture(macro.statement.body, text) : Flow::kNormal;
  --call_depth_;
  activation_ = caller;
  VITRO_TRY(status);
  VITRO_TRY(flow);
  return text;
}

}  // namespace vitro::jinja
