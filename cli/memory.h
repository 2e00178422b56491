// What running a model takes, by owner, before its weights are read; what it then holds; and the limit that a user
// sets.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "cli/cli11_fwd.h"
#include "cli/engine.h"
#include "formats/value.h"
#include "generate/session.h"
#include "plan/item.h"
#include "plan/session_plan.h"

namespace vitro {

/// --memory-limit: bytes, or nothing.
void add_memory_limit_option(CLI::App& app, std::optional<int64_t>& limit);

/// Bytes that generating takes beside the session, where the context has so many positions.
using GenerationBytes = std::function<int64_t(int64_t n_ctx)>;

/// Owners of a run's memory that do not depend on the context: weights by component, tables of the model, the file,
/// the tokenizer, the program. An engine of open_files. Errors of bind_tensors.
Result<PlanItem> fixed_memory(const Engine& engine);
/// The whole run: `fixed`, the session by owner, the loop. Errors of plan_session.
Result<PlanItem> run_memory(const Engine& engine, const PlanItem& fixed, const SessionShape& shape,
                            const GenerationBytes& generation);
/// What is held, in a tree of the same names; owners whose bytes are measured or estimated are left out.
PlanItem held_memory(const Engine& engine, const Session& session, int64_t generation);

/// What is to be kept within a limit.
struct MemoryQuestion {
  int64_t n_ctx = 0;
  std::function<SessionShape(int64_t n_ctx)> shape_of = {};
  GenerationBytes generation = {};            ///< may be empty
  int64_t least_ctx = 1;                      ///< positions without which there is nothing to run
  std::string_view ctx_option = "--context";  ///< what a user makes smaller
};
/// OutOfMemory if the plan is over the limit: both numbers, the largest owners, and the longest context that fits.
/// Nothing is checked without a limit.
Status check_memory_limit(const Engine& engine, const MemoryQuestion& question, std::optional<int64_t> limit);

/// Planned and held, owner by owner.
void print_memory(const PlanItem& planned, const PlanItem& held);
Value memory_json(const PlanItem& planned, const PlanItem& held);

}  // namespace vitro
