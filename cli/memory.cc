#include "cli/memory.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/human.h"
#include "base/saturating.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "plan/component.h"
#include "plan/weights_plan.h"

namespace vitro {
namespace {

// The program itself: its code and constants as far as they are used, the heap's small things (names of tensors, maps,
// options, texts), and of each thread the stack that it touches and an arena of the heap.
constexpr int64_t kProgramBytes = int64_t{12} << 20;
constexpr int64_t kThreadBytes = int64_t{128} << 10;
constexpr int64_t kNameBytes = 512;  // of a tensor: its name here and in the file, entries of maps

// Measured sizes differ by a few bytes from run to run; in whole units a plan is the same each time.
constexpr int64_t kMeasuredUnit = int64_t{1} << 16;

PlanItem measured_item(std::string name, int64_t n_bytes, std::string formula) {
  return {std::move(name), (std::max<int64_t>(n_bytes, 0) + kMeasuredUnit - 1) / kMeasuredUnit * kMeasuredUnit,
          Certainty::kMeasured, std::move(formula)};
}

// Bytes of the files that stay: all of a copy; of a mapping what is not weights, whose pages are let go.
PlanItem file_item(const Engine& engine) {
  auto n_bytes = static_cast<int64_t>(engine.checkpoint->file_bytes());
  if (engine.is_read) return {"file", n_bytes, Certainty::kExact, "a copy of the file (--load read)"};
  for (const WeightEntry& entry : engine.checkpoint->tensors())
    n_bytes -= static_cast<int64_t>(entry.end - entry.begin);
  return {"file", std::max<int64_t>(n_bytes, 0), Certainty::kEstimated, "mapped pages that are not weights"};
}

PlanItem program_item(const Engine& engine) {
  const auto n_tensors = static_cast<int64_t>(engine.checkpoint->tensors().size());
  PlanItem item{"program", kProgramBytes + engine.pool->n_threads() * kThreadBytes + n_tensors * kNameBytes,
                Certainty::kEstimated};
  item.formula = fmt::format("{} + threads x {} + tensors x {} B", human_bytes(kProgramBytes),
                             human_bytes(kThreadBytes), kNameBytes);
  return item;
}

Result<PlanItem> planned_weights(const Engine& engine) {
  const Architecture& arch = *engine.description.arch;
  const std::vector<TensorSlot> slots = arch.tensor_slots(engine.checkpoint->format(), engine.config());
  VITRO_TRY_ASSIGN(const auto bound, bind_tensors(*engine.checkpoint, slots, arch.ignorable_tensors));
  return weight_bytes_item(plan_weights(engine.config(), bound, true));
}

PlanItem held_weights(const Tensors& tensors) {
  WeightsPlan held;
  tensors.each([&](std::string_view name, int64_t n_bytes) {
    const auto component = component_of(name);
    (component ? held.components[static_cast<size_t>(*component)].n_bytes : held.table_bytes) += n_bytes;
  });
  return weight_bytes_item(held);
}

std::string largest_owners(const PlanItem& planned) {
  std::vector<PlanItem> owners = planned.parts;
  std::stable_sort(owners.begin(), owners.end(), [](const auto& a, const auto& b) { return a.amount > b.amount; });
  std::string words;
  for (size_t i = 0; i < std::min<size_t>(owners.size(), 3); ++i) {
    words +=
        fmt::format("{}{} {}", i > 0 ? ", " : "", owners[i].name, human_bytes(static_cast<uint64_t>(owners[i].amount)));
  }
  return words;
}

// The longest context whose plan is within the limit; 0: none.
int64_t longest_context(const Engine& engine, const PlanItem& fixed, const MemoryQuestion& question, int64_t limit) {
  const auto fits = [&](int64_t n_ctx) {
    const auto planned = run_memory(engine, fixed, question.shape_of(n_ctx), question.generation);
    return planned && planned->amount <= limit;
  };
  int64_t most = question.least_ctx - 1, too_much = question.n_ctx;
  while (too_much - most > 1) {
    const int64_t middle = most + (too_much - most) / 2;
    (fits(middle) ? most : too_much) = middle;
  }
  return most >= question.least_ctx ? most : 0;
}

struct Row {
  std::string path;
  const PlanItem* planned;
  const PlanItem* held;  ///< null: not ours to count
};

void add_rows(const PlanItem& planned, const PlanItem* held, const std::string& path, std::vector<Row>* rows) {
  for (const PlanItem& part : planned.parts) {
    const std::string part_path = path.empty() ? part.name : path + "/" + part.name;
    const PlanItem* part_held = held ? find_item(*held, part.name) : nullptr;
    if (part.parts.empty()) rows->push_back({part_path, &part, part_held});
    if (!part.parts.empty()) add_rows(part, part_held, part_path, rows);
  }
}

std::vector<Row> rows_of(const PlanItem& planned, const PlanItem& held) {
  std::vector<Row> rows;
  add_rows(planned, &held, "", &rows);
  return rows;
}

}  // namespace

void add_memory_limit_option(CLI::App& app, std::optional<int64_t>& limit) {
  const auto check = [](const std::string& text) {
    const auto n_bytes = parse_bytes(text);
    return n_bytes ? std::string() : n_bytes.error().message;
  };
  const auto set = [&limit](const std::string& text) { limit = parse_bytes(text).value(); };
  app.add_option_function<std::string>("--memory-limit", set,
                                       "refuse to run, before weights are read, what the plan says takes more than "
                                       "this: bytes, or 24GiB, 24GB")
      ->check(CLI::Validator(check, ""))
      ->group("Memory");
}

Result<PlanItem> fixed_memory(const Engine& engine) {
  VITRO_TRY_ASSIGN(PlanItem weights, planned_weights(engine));
  return sum_item("memory", {std::move(weights),
                             {"model tables", model_table_bytes(engine.config())},
                             file_item(engine),
                             measured_item("metadata", engine.opened.metadata, "tables of the file, the description"),
                             measured_item("tokenizer", engine.opened.tokenizer, "vocabulary, merges, lookup tables"),
                             program_item(engine)});
}

Result<PlanItem> run_memory(const Engine& engine, const PlanItem& fixed, const SessionShape& shape,
                            const GenerationBytes& generation) {
  VITRO_TRY_ASSIGN(const SessionPlan session, plan_session(engine.config(), shape));
  std::vector<PlanItem> parts = fixed.parts;
  const std::vector<PlanItem> items = session_items(session);
  parts.insert(parts.end(), items.begin(), items.end());
  parts.push_back({"generation", generation ? generation(shape.n_ctx) : 0});
  PlanItem planned = sum_item("memory", std::move(parts));
  VITRO_TRY(check_amounts(planned, "bytes"));
  return planned;
}

PlanItem held_memory(const Engine& engine, const Session& session, int64_t generation) {
  std::vector<PlanItem> parts = session_items(session.held());
  parts.insert(parts.begin(), held_weights(engine.model->tensors));
  parts.push_back({"model tables", held_table_bytes(*engine.model)});
  if (engine.is_read) parts.push_back({"file", static_cast<int64_t>(engine.checkpoint->file_bytes())});
  parts.push_back({"generation", generation});
  return sum_item("memory", std::move(parts));
}

Status check_memory_limit(const Engine& engine, const MemoryQuestion& question, std::optional<int64_t> limit) {
  if (!limit) return {};
  VITRO_TRY_ASSIGN(const PlanItem fixed, fixed_memory(engine));
  const SessionShape shape = question.shape_of(question.n_ctx);
  VITRO_TRY_ASSIGN(const PlanItem planned, run_memory(engine, fixed, shape, question.generation));
  if (planned.amount <= *limit) return {};
  const int64_t n_fitting = longest_context(engine, fixed, question, *limit);
  const std::string advice = n_fitting > 0
                                 ? fmt::format("{} {} would fit", question.ctx_option, n_fitting)
                                 : fmt::format("no {} of {} or more fits", question.ctx_option, question.least_ctx);
  return fail(ErrorCode::kOutOfMemory, "this run would take {} bytes ({}), --memory-limit is {} ({}); largest: {}; {}",
              human_count(planned.amount), human_bytes(static_cast<uint64_t>(planned.amount)), human_count(*limit),
              human_bytes(static_cast<uint64_t>(*limit)), largest_owners(planned), advice);
}

void print_memory(const PlanItem& planned, const PlanItem& held) {
  Table table("<>>><");
  table.add({"memory, bytes", "planned", "allocated", "difference", ""});
  int64_t n_planned = 0, n_held = 0;
  for (const Row& row : rows_of(planned, held)) {
    const bool is_ours = row.held != nullptr;
    const int64_t amount = is_ours ? row.held->amount : 0;
    table.add({row.path, human_count(row.planned->amount), is_ours ? human_count(amount) : "",
               is_ours ? human_count(amount - row.planned->amount) : "",
               is_ours ? "" : std::string(certainty_name(row.planned->certainty))});
    n_planned += is_ours ? row.planned->amount : 0;
    n_held += amount;
  }
  table.add({"allocated by the engine", human_count(n_planned), human_count(n_held), human_count(n_held - n_planned)});
  table.add({"all", human_count(planned.amount), "", "", human_bytes(static_cast<uint64_t>(planned.amount))});
  table.add({"largest resident size", "", human_count(peak_rss_bytes()), "", "measured by the system"});
  table.print();
}

Value memory_json(const PlanItem& planned, const PlanItem& held) {
  Value::Array owners;
  for (const Row& row : rows_of(planned, held)) {
    owners.emplace_back(Value::Object{{"owner", Value(row.path)},
                                      {"planned_bytes", Value(row.planned->amount)},
                                      {"allocated_bytes", row.held ? Value(row.held->amount) : Value()},
                                      {"certainty", Value(std::string(certainty_name(row.planned->certainty)))}});
  }
  return Value(Value::Object{{"owners", Value(std::move(owners))},
                             {"planned_bytes", Value(planned.amount)},
                             {"allocated_bytes", Value(held.amount)},
                             {"peak_rss_bytes", Value(peak_rss_bytes())}});
}

}  // namespace vitro
