// for loops: filters run as the loop goes on, `loop` can look ahead, recursive loops call themselves.
#include "text/jinja/interpreter.h"

namespace vitro::jinja {
namespace {

void empty_loop(Object& object) {
  auto& loop = static_cast<LoopObject&>(object);
  loop.changed = loop.current = loop.before = loop.iterable = Val();
  loop.walker = Walker(Val());
  loop.after.reset();
  loop.rest.reset();
  loop.around.reset();
  loop.filter.reset();
}

}  // namespace

Result<Interpreter::Flow> Interpreter::exec_for(const Stmt& s) {
  VITRO_TRY_ASSIGN(const Val iterable, eval(*s.value));
  if (s.is_recursive) {
    keep(activation_);
    VITRO_TRY_ASSIGN(const Val text, run_recursive(s, iterable, activation_, 0));
    out_->append(text.as_string().marked);
    return Flow::kNormal;
  }
  VITRO_TRY(located(make_walker(iterable), s.value->pos));
  const Val loop = rt_.make<LoopObject>(Kind::kLoop, s, iterable);
  loop.as<LoopObject>().around = activation_;
  Result<Flow> flow = run_loop(s, loop);
  end_loop(loop);
  return flow;
}

/// A loop that a template put somewhere lives on, and may hold itself: it is emptied when the rendering ends.
void Interpreter::end_loop(const Val& loop_value) {
  if (loop_value.shared().use_count() == 1) return;
  keep(loop_value.as<LoopObject>().around);
  rt_.keep(loop_value.shared(), empty_loop);
}

Result<Val> Interpreter::run_recursive(const Stmt& s, const Val& iterable, std::shared_ptr<Activation> around,
                                       int64_t depth0) {
  VITRO_TRY(make_walker(iterable));
  if (call_depth_ >= rt_.max_depth) return raise("calls are nested more than {} levels deep", rt_.max_depth);
  const Val loop_value = rt_.make<LoopObject>(Kind::kLoop, s, iterable);
  LoopObject& loop = loop_value.as<LoopObject>();
  loop.around = around;
  loop.depth0 = depth0;
  const auto caller = std::exchange(activation_, std::make_shared<Activation>(&rt_.budget, s.n_slots, around));
  TextBuilder buffer(rt_);
  TextBuilder* const outer = std::exchange(out_, &buffer);
  ++call_depth_;
  const Result<Flow> flow = run_loop(s, loop_value);
  --call_depth_;
  out_ = outer;
  activation_ = caller;
  end_loop(loop_value);
  VITRO_TRY(flow);
  return buffer.finish();
}

Result<Interpreter::Flow> Interpreter::run_loop(const Stmt& s, const Val& loop_value) {
  bool is_else = true;
  VITRO_TRY_ASSIGN(const Flow flow, run_loop_body(s, loop_value, is_else));
  if (flow != Flow::kNormal) return flow;
  if (!s.is_recursive || !s.else_body.empty()) leave(s.scope);
  if (!is_else || s.else_body.empty()) return Flow::kNormal;
  enter(s.else_scope);
  VITRO_TRY_ASSIGN(const Flow else_flow, exec(s.else_body));
  if (else_flow == Flow::kNormal) leave(s.else_scope);
  return else_flow;
}

Result<Interpreter::Flow> Interpreter::run_loop_body(const Stmt& s, const Val& loop_value, bool& is_else) {
  for (;;) {
    VITRO_TRY_ASSIGN(std::optional<Val> item, advance(loop_value.as<LoopObject>()));
    if (!item) return Flow::kNormal;
    VITRO_TRY(located(assign(*s.target, *item), s.target->pos));
    if (s.uses_loop) slot(s.loop_slot) = loop_value;
    enter(s.scope);
    VITRO_TRY_ASSIGN(const Flow flow, exec(s.body));
    if (flow == Flow::kBreak) return Flow::kNormal;
    // As in the reference, a loop whose every turn ends with continue runs its else.
    if (flow == Flow::kNormal) is_else = false;
  }
}

Result<bool> Interpreter::passes_filter(LoopObject& loop, const Val& item) {
  const Stmt& s = loop.statement;
  const bool is_first = loop.filter == nullptr;
  if (is_first) loop.filter = std::make_shared<Activation>(&rt_.budget, s.n_test_slots, loop.around);
  const auto outer = std::exchange(activation_, loop.filter);
  if (is_first) enter(s.test_scope);
  Status status = located(assign(*s.test_target, item), s.test_target->pos);
  Result<Val> value = status ? eval(*s.test) : Result<Val>(tl::unexpected<Error>(status.error()));
  activation_ = outer;
  VITRO_TRY(value);
  return is_true(*value);
}

Result<std::optional<Val>> Interpreter::pull(LoopObject& loop) {
  if (loop.rest) {
    if (loop.next_rest >= loop.rest->size()) return std::nullopt;
    return (*loop.rest)[loop.next_rest++];
  }
  for (;;) {
    VITRO_TRY_ASSIGN(std::optional<Val> item, loop.walker.next(rt_));
    if (!item || !loop.statement.test) return item;
    VITRO_TRY(rt_.budget.check());
    VITRO_TRY_ASSIGN(const bool is_wanted, passes_filter(loop, *item));
    if (is_wanted) return item;
  }
}

Result<std::optional<Val>> Interpreter::advance(LoopObject& loop) {
  std::optional<Val> item;
  if (loop.is_peeked && loop.after) {
    item = std::exchange(loop.after, std::nullopt);
    loop.is_peeked = false;
  } else {
    VITRO_TRY_ASSIGN(item, pull(loop));
  }
  if (!item) return item;
  ++loop.index0;
  loop.before = std::exchange(loop.current, *item);
  return item;
}

Status Interpreter::peek(LoopObject& loop) {
  if (loop.is_peeked && loop.after) return {};
  VITRO_TRY_ASSIGN(loop.after, pull(loop));
  loop.is_peeked = true;
  return {};
}

Result<int64_t> Interpreter::loop_length(LoopObject& loop) {
  if (loop.length) return *loop.length;
  const Result<int64_t> length = length_of(loop.iterable);
  if (length && !loop.statement.test) {
    loop.length = *length;
    return *length;
  }
  std::vector<Val> rest;
  for (;;) {
    VITRO_TRY_ASSIGN(std::optional<Val> item, pull(loop));
    if (!item) break;
    rest.push_back(std::move(*item));
    if (rest.size() % 256 == 0) VITRO_TRY(rt_.budget.check_room(rest.size() * sizeof(Val)));
  }
  loop.length = static_cast<int64_t>(rest.size()) + loop.index0 + 1 + (loop.is_peeked && loop.after ? 1 : 0);
  loop.rest = std::move(rest);
  loop.next_rest = 0;
  return *loop.length;
}

Result<Val> Interpreter::loop_attribute(const Val& loop_value, std::string_view name) {
  LoopObject& loop = loop_value.as<LoopObject>();
  if (name == "index") return Val::integer(loop.index0 + 1);
  if (name == "index0") return Val::integer(loop.index0);
  if (name == "first") return Val::boolean(loop.index0 == 0);
  if (name == "depth") return Val::integer(loop.depth0 + 1);
  if (name == "depth0") return Val::integer(loop.depth0);
  if (name == "cycle" || name == "changed") return rt_.make<MethodObject>(Kind::kMethod, loop_value, std::string(name));
  if (name == "previtem") return loop.index0 == 0 ? rt_.undefined("there is no previous item") : loop.before;
  if (name == "last" || name == "nextitem") {
    VITRO_TRY(peek(loop));
    if (name == "last") return Val::boolean(!loop.after);
    return loop.after ? *loop.after : rt_.undefined("there is no next item");
  }
  if (name != "length" && name != "revindex" && name != "revindex0") return Val();
  VITRO_TRY_ASSIGN(const int64_t length, loop_length(loop));
  if (name == "length") return Val::integer(length);
  return Val::integer(length - loop.index0 - (name == "revindex" ? 0 : 1));
}

Result<Val> Interpreter::call_loop_method(LoopObject& loop, std::string_view name, Arguments args) {
  if (!args.kwargs.empty()) {
    return raise("LoopContext.{}() got an unexpected keyword argument '{}'", name, args.kwargs[0].first);
  }
  if (name == "cycle") {
    if (args.args.empty()) return raise("no items for cycling given");
    const auto n = static_cast<int64_t>(args.args.size());
    return args.args[static_cast<size_t>(((loop.index0 % n) + n) % n)];
  }
  VITRO_TRY_ASSIGN(const Val now, rt_.tuple(std::move(args.args)));
  if (equals(rt_, loop.changed, now)) return Val::boolean(false);
  loop.changed = now;
  return Val::boolean(true);
}

}  // namespace vitro::jinja
