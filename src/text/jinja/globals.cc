// Global functions: range, dict, namespace, cycler, joiner, raise_exception, strftime_now.
#include <algorithm>

#include "text/jinja/attributes.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/strftime.h"

namespace vitro::jinja {
namespace {

constexpr int64_t kMaxRange = 100000;  // as the sandbox of the reference

Result<Val> make_range(Runtime& rt, Arguments given) {
  VITRO_TRY_ASSIGN(const std::vector<Val> args, bind_arguments("range", "/ start stop? step?", std::move(given)));
  VITRO_TRY_ASSIGN(int64_t start, int_argument(args[0]));
  VITRO_TRY_ASSIGN(int64_t stop, int_argument(args[1]));
  VITRO_TRY_ASSIGN(const int64_t step, int_argument(args[2], 1));
  if (args[1].is_missing()) stop = std::exchange(start, 0);
  if (step == 0) return raise("range() arg 3 must not be zero");
  const Int128 distance = step > 0 ? static_cast<Int128>(stop) - start : static_cast<Int128>(start) - stop;
  const Int128 stride = step > 0 ? static_cast<Int128>(step) : -static_cast<Int128>(step);
  const Int128 count = distance > 0 ? (distance - 1) / stride + 1 : 0;
  if (count > kMaxRange) {
    return raise("Range too big. The sandbox blocks ranges larger than MAX_RANGE ({}).", kMaxRange);
  }
  return rt.make<RangeObject>(Kind::kRange, start, stop, step, static_cast<int64_t>(count));
}

/// dict(mapping or pairs, **more).
Result<Val> make_dict(Runtime& rt, Arguments given) {
  if (given.args.size() > 1) return raise("dict expected at most 1 argument, got {}", given.args.size());
  DictBuilder out(rt);
  if (!given.args.empty() && given.args[0].is(Kind::kDict)) {
    for (const auto& [key, value] : given.args[0].as_dict().members) VITRO_TRY(out.set(key, value));
  } else if (!given.args.empty()) {
    VITRO_TRY_ASSIGN(const std::vector<Val> pairs, values_of(rt, given.args[0]));
    for (size_t i = 0; i < pairs.size(); ++i) {
      VITRO_TRY_ASSIGN(const std::vector<Val> pair, values_of(rt, pairs[i]));
      if (pair.size() != 2) {
        return raise("dictionary update sequence element #{} has length {}; 2 is required", i, pair.size());
      }
      VITRO_TRY(out.set(pair[0], pair[1]));
    }
  }
  for (const auto& [name, value] : given.kwargs) VITRO_TRY(out.set(rt.string(name), value));
  return out.finish();
}

Result<Val> make_namespace(Runtime& rt, Arguments given) {
  VITRO_TRY_ASSIGN(const Val attributes, make_dict(rt, std::move(given)));
  const Val out = rt.make_namespace();
  for (const auto& [key, value] : attributes.as_dict().members) {
    if (key.is_string() && key.as_string().text().starts_with('_')) {
      return raise("Chat templates cannot store underscore-prefixed attributes on a namespace, but got '{}'.",
                   key.as_string().text());
    }
    out.as<NamespaceObject>().members.emplace_back(key, value);
    out.as<NamespaceObject>().grow(sizeof(DictObject::Member));
  }
  return out;
}

/// What holds other values and counts as deep as they are must end somewhere, too.
Status check_depth(const Runtime& rt, const Val& value) {
  if (depth_of(value) < rt.max_depth) return {};
  return raise("values are nested more than {} levels deep", rt.max_depth);
}

Result<Val> make_cycler(Runtime& rt, Arguments given) {
  if (!given.kwargs.empty()) return raise("Cycler.__init__() got an unexpected keyword argument");
  if (given.args.empty()) return raise("at least one item has to be provided");
  for (const Val& value : given.args) VITRO_TRY(check_depth(rt, value));
  int depth = 0;
  for (const Val& value : given.args) depth = std::max(depth, depth_of(value));
  const Val out = rt.make<CyclerObject>(Kind::kCycler, std::move(given.args));
  out.as<CyclerObject>().depth = depth + 1;
  return out;
}

Result<Val> make_joiner(Runtime& rt, Arguments given) {
  VITRO_TRY_ASSIGN(const std::vector<Val> args, bind_arguments("joiner", "sep?", std::move(given)));
  VITRO_TRY(check_depth(rt, args[0]));
  return rt.make<JoinerObject>(Kind::kJoiner, args[0].is_missing() ? rt.string(", ") : args[0]);
}

Result<Val> raise_exception(Runtime& rt, Arguments given) {
  VITRO_TRY_ASSIGN(const std::vector<Val> args, bind_arguments("raise_exception", "message", std::move(given)));
  VITRO_TRY_ASSIGN(const MarkedText message, text_of(rt, args[0]));
  return raise("{}", message.text);
}

Result<Val> strftime_now(Runtime& rt, Arguments given) {
  VITRO_TRY_ASSIGN(const std::vector<Val> args, bind_arguments("strftime_now", "format", std::move(given)));
  VITRO_TRY_ASSIGN(const StringObject* format, string_argument(args[0]));
  VITRO_TRY_ASSIGN(const ClockTime now, clock_time(rt.now()));
  TextBuilder out(rt);
  VITRO_TRY(append_strftime(out, format->marked, now));
  return out.finish();
}

Result<Val> refuse_lipsum(Runtime& rt, Arguments given) {
  static_cast<void>(rt), static_cast<void>(given);
  return fail(ErrorCode::kUnsupported, "lipsum is not supported: it makes random text");
}

struct Builtin {
  std::string_view name;
  Result<Val> (*run)(Runtime& rt, Arguments args);
};

constexpr Builtin kBuiltins[] = {{"range", make_range},
                                 {"dict", make_dict},
                                 {"namespace", make_namespace},
                                 {"cycler", make_cycler},
                                 {"joiner", make_joiner},
                                 {"lipsum", refuse_lipsum},
                                 {"raise_exception", raise_exception},
                                 {"strftime_now", strftime_now}};

}  // namespace

std::vector<std::string_view> builtin_names() {
  std::vector<std::string_view> out;
  for (const Builtin& builtin : kBuiltins) out.push_back(builtin.name);
  return out;
}

Result<Val> call_function(Runtime& rt, const FunctionObject& function, Arguments args) {
  for (const Builtin& builtin : kBuiltins) {
    if (builtin.name == function.name) return builtin.run(rt, std::move(args));
  }
  return fail(ErrorCode::kInternal, "a built-in function that is not in the table");
}

}  // namespace vitro::jinja
