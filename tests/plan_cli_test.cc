// `vitro plan` as an operator meets it: the documents' figures, every committed configuration, JSON by its schema,
// pictures, refusals, and the commands of docs/memory.md with their output.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "testing/json_schema.h"
#include "testing/run_program.h"
#include "testing/shared_data.h"
#include "testing/temp_folder.h"

namespace vitro::testing {
namespace {

// In the sources, so that paths are as the documents have them; `vitro` is the program under test.
Ran in_sources(const std::string& command) {
  const std::string folder = std::filesystem::path(VITRO_BINARY).parent_path().string();
  return shell("cd '" VITRO_SOURCE_DIR "' && PATH='" + folder + "':$PATH && " + command + " </dev/null");
}
Ran plan(const std::string& arguments) { return in_sources("vitro plan " + arguments + " 2>&1"); }

Value json_plan(const std::string& arguments) {
  const Ran ran = in_sources("vitro plan --json " + arguments + " 2>/dev/null");
  EXPECT_EQ(ran.code, 0) << arguments;
  auto value = parse_json(ran.out, arguments);
  EXPECT_TRUE(value.has_value()) << arguments << ran.out.substr(0, 300);
  return value ? *std::move(value) : Value();
}

// Members by their names, one below the other; null where there is none.
const Value& at(const Value& value, std::initializer_list<std::string_view> path) {
  static const Value kNothing;
  const Value* found = &value;
  for (const std::string_view key : path) {
    found = found->find(key);
    if (!found) return kNothing;
  }
  return *found;
}

// The amount of a section's owner: amount(json, "memory", "weights/attention").
int64_t amount(const Value& plan, std::string_view section, const std::string& path = "") {
  const Value* item = &at(plan, {"sections", section, "item"});
  std::stringstream names(path);
  for (std::string name; std::getline(names, name, '/');) {
    const Value* next = nullptr;
    for (const Value& part : *at(*item, {"parts"}).as_array()) {
      if (*at(part, {"name"}).as_string() == name) next = &part;
    }
    if (!next) return -1;
    item = next;
  }
  const int64_t* n = at(*item, {"amount"}).as_int();
  return n ? *n : -1;
}

// A cell of a table: the row whose `key` column holds `name`.
double cell(const Value& plan, std::string_view table, std::string_view key, const std::string& name,
            std::string_view column) {
  for (const Value& row : *at(plan, {"tables", table, "rows"}).as_array()) {
    const Value& value = at(row, {key});
    const bool is_it = value.as_string() ? *value.as_string() == name : to_string(value) == name;
    if (!is_it) continue;
    const Value& found = at(row, {column});
    return found.as_int() ? static_cast<double>(*found.as_int()) : found.as_real() ? *found.as_real() : -1;
  }
  return -1;
}

const std::string kLlama7B = "tests/golden/plan/llama-7b ";

// ---- figures of the documents ----

TEST(PlanCli, ParametersByComponent) {
  const Value plan = json_plan(kLlama7B);
  EXPECT_EQ(amount(plan, "parameters"), 6'738'415'616);
  EXPECT_EQ(amount(plan, "parameters", "attention"), 32LL * 4 * 4096 * 4096);
  EXPECT_EQ(amount(plan, "parameters", "feed-forward"), 32LL * 3 * 4096 * 11008);
  EXPECT_EQ(amount(plan, "parameters", "embedding and head/embedding"), 131'072'000);
  EXPECT_EQ(amount(plan, "parameters", "embedding and head/head"), 131'072'000);
  EXPECT_EQ(amount(plan, "parameters", "norms"), 266'240);
  const Ran explained = plan(kLlama7B + "--explain");
  EXPECT_NE(explained.out.find("attention                           2,147,483,648 parameters  31.87%  exact"),
            std::string::npos)
      << explained.out;
  EXPECT_NE(explained.out.find("= 64 x 11,008 x 4,096 + 32 x 4,096 x 11,008"), std::string::npos);
  EXPECT_NE(explained.out.find("feed-forward 135,266,304 + attention 67,108,864 + norms"), std::string::npos);
}

TEST(PlanCli, CacheOfLlama) {
  const auto cache = [](const std::string& n) {
    return amount(json_plan(kLlama7B + "--context " + n), "memory", "cache");
  };
  EXPECT_EQ(cache("4096"), 2'147'483'648);
  EXPECT_EQ(cache("32k"), 17'179'869'184);
  EXPECT_EQ(cache("128k"), int64_t{64} << 30);
  EXPECT_EQ(*at(json_plan(kLlama7B), {"figures", "cache_bytes_per_token"}).as_int(), 524'288);
  EXPECT_EQ(*at(json_plan("tests/golden/plan/llama2-70b"), {"figures", "cache_bytes_per_token"}).as_int(), 327'680);
}

TEST(PlanCli, AttentionMatrixAgainstTiles) {
  const Value plan = json_plan(kLlama7B + "--naive");
  const auto bytes = [&](const char* n, const char* column) { return cell(plan, "attention_matrix", "n", n, column); };
  EXPECT_EQ(bytes("1024", "matrix_bytes"), 64 << 20);
  EXPECT_EQ(bytes("4096", "matrix_bytes"), 1 << 30);
  EXPECT_EQ(bytes("32768", "matrix_bytes"), 64.0 * (1 << 30));
  EXPECT_EQ(bytes("4096", "output_bytes"), 32 << 20);
  EXPECT_EQ(bytes("4096", "log_sum_exp_bytes"), 512 << 10);
}

TEST(PlanCli, FlopsOfALayerAndWhereAttentionPassesTheFeedForward) {
  const Value plan = json_plan(kLlama7B + "--naive");
  const auto flops = [&](const char* column) { return cell(plan, "flops_by_length", "n", "4096", column); };
  EXPECT_EQ(flops("projections"), 2.0 * 4096 * 4 * 4096 * 4096);
  EXPECT_EQ(flops("scores_all_pairs"), 4.0 * 4096 * 4096 * 4096);
  EXPECT_EQ(flops("scores_masked"), 4.0 * 4096 * (4096.0 * 4097 / 2));
  EXPECT_EQ(flops("feed_forward"), 2.0 * 4096 * 3 * 4096 * 11008);
  const std::string note = *at(plan, {"tables", "flops_by_length", "notes"}).as_array()->front().as_string();
  // n >= 3/2 d_ff, and with the projections n >= 3/2 d_ff - 2 d_model; of pairs n (n + 1) / 2 are visible.
  for (const char* length : {"16,512", "33,023", "8,320", "16,639"})
    EXPECT_NE(note.find(length), std::string::npos) << note;
}

TEST(PlanCli, StatesOfTraining) {
  const Value plan = json_plan(kLlama7B + "--train --context 2048");
  const auto states = [&](const char* choice) { return cell(plan, "choices", "choice", choice, "states_bytes"); };
  EXPECT_EQ(states("as asked"), 16.0 * 6'738'415'616);
  EXPECT_EQ(states("adamw-bf16-f32-grads"), 18.0 * 6'738'415'616);
  EXPECT_EQ(states("adamw-bf16-both-grads"), 20.0 * 6'738'415'616);
  EXPECT_EQ(amount(plan, "states", "weights"), 2 * 6'738'415'616);
  EXPECT_EQ(amount(plan, "states", "moments"), 8 * 6'738'415'616);
}

TEST(PlanCli, ContextLeftOnDevices) {
  const auto left = [](const std::string& budget) {
    const Value plan = json_plan(kLlama7B + "--engine gpu --fit " + budget);
    return cell(plan, "fits", "question", "the same, weights and cache alone", "answer");
  };
  EXPECT_EQ(left("16GB"), 4'812);
  EXPECT_EQ(left("24GB"), 20'071);
  EXPECT_EQ(left("80GB"), 126'882);
  EXPECT_EQ(left("80GiB"), 138'134);
}

// ---- every configuration ----

std::vector<std::filesystem::path> configurations() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(repo_path("tests/golden/plan")))
    found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

TEST(PlanCli, EveryConfigurationGivesItsCounts) {
  const auto all = configurations();
  ASSERT_GE(all.size(), 40u);
  for (const auto& path : all) {
    const Value expected = load_json(path / "expected.json");
    const Value plan = json_plan(path.string());
    EXPECT_EQ(amount(plan, "parameters"), *at(expected, {"parameters"}).as_int()) << path;
    const int64_t* cache = at(expected, {"kv_bytes_per_token_bf16"}).as_int();
    const int64_t* planned = at(plan, {"figures", "cache_bytes_per_token"}).as_int();
    if (cache) EXPECT_EQ(*planned, *cache) << path;
  }
}

TEST(PlanCli, TakesLittleTime) {
#ifdef NDEBUG
  double least = 1;
  for (int i = 0; i < 3; ++i) {
    rusage before{}, after{};
    ::getrusage(RUSAGE_CHILDREN, &before);
    EXPECT_EQ(plan("tests/golden/plan/deepseek-v3 --gpu h200 --count 8 --context 32k --weights fp8").code, 0);
    ::getrusage(RUSAGE_CHILDREN, &after);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    least = std::min(least, seconds(after.ru_utime) - seconds(before.ru_utime));
  }
  EXPECT_LT(least, 0.05);
#else
  GTEST_SKIP() << "only optimised programs are timed";
#endif
}

// ---- forms of the answer ----

const std::vector<std::string>& kinds_of_plans() {
  static const std::vector<std::string> kAll = {
      kLlama7B + "--context 4096",
      kLlama7B + "--naive --window-cache --cache-type q8_0 --users 3",
      "tests/golden/plan/llama3-70b --gpu h100-80g --count 8 --context 32k",
      "tests/golden/plan/gemma3-270m --window-cache --fit 1GiB --context 32k",
      "tests/golden/plan/deepseek-v3 --gpu h200 --count 8 --weights fp8",
      "tests/golden/plan/mixtral-8x7b --train --gpu h100-80g --dp 4 --tp 2 --pp 2 --accumulate 4 --ep 2 --zero 1 "
      "--tokens 1T",
      kLlama7B + "--train --lora 16 --lora-targets all --lora-base nf4-dq --recompute full",
      "tests/golden/plan/bert-base --gpu a100-80g",
      "tests/golden/plan/t5-base --fit 24GiB",
      "tests/golden/llama-gqa",
      "--compare tests/golden/plan/llama-7b tests/golden/plan/llama3-8b",
      "--compare tests/golden/plan/gpt2 tests/golden/plan/t5-base tests/golden/plan/deepseek-v3 --train",
      "--arch llama --d-model 2048 --n-layer 16 --vocab-size 32000",
  };
  return kAll;
}

// Amounts of parts add up to their owner's.
void expect_sums(const Value& item) {
  const auto& parts = *at(item, {"parts"}).as_array();
  int64_t sum = 0;
  for (const Value& part : parts) {
    expect_sums(part);
    sum += *at(part, {"amount"}).as_int();
  }
  if (!parts.empty()) EXPECT_EQ(sum, *at(item, {"amount"}).as_int()) << to_string(at(item, {"name"}));
}

TEST(PlanCli, JsonIsAsItsSchemaSays) {
  const JsonSchema schema(load_json(repo_path("docs/plan.schema.json")));
  for (const std::string& arguments : kinds_of_plans()) {
    const Value plan = json_plan(arguments);
    EXPECT_EQ(schema.problems(plan), "") << arguments;
    for (const auto& [id, section] : *at(plan, {"sections"}).as_object()) expect_sums(at(section, {"item"}));
  }
  EXPECT_NE(schema.problems(load_json(repo_path("tests/golden/plan/llama-7b/config.json"))), "");
}

size_t columns_of(const std::string& line) {
  return static_cast<size_t>(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

TEST(PlanCli, AnswersFitOneScreen) {
  for (const std::string& arguments : kinds_of_plans()) {
    const Ran ran = plan(arguments);
    EXPECT_EQ(ran.code, 0) << ran.out;
    if (arguments.find("--compare") != std::string::npos) continue;
    std::stringstream lines(ran.out);
    size_t n_lines = 0;
    for (std::string line; std::getline(lines, line); ++n_lines) EXPECT_LE(columns_of(line), 80u) << arguments << line;
    EXPECT_LE(n_lines, 50u) << arguments;
  }
}

TEST(PlanCli, ComparesOwnerByOwner) {
  const Value plan = json_plan("--compare tests/golden/plan/llama-7b tests/golden/plan/llama3-8b");
  EXPECT_EQ(cell(plan, "parameters", "owner", "attention/k", "amount_1"), 536'870'912);
  EXPECT_EQ(cell(plan, "parameters", "owner", "attention/k", "amount_2"), 134'217'728);
  EXPECT_EQ(cell(plan, "parameters", "owner", "attention/k", "difference"), 134'217'728 - 536'870'912);
  EXPECT_EQ(cell(plan, "parameters", "owner", "", "amount_2"), 8'030'261'248);
}

TEST(PlanCli, PicturesShowAndObeyNothing) {
  TempFolder folder;
  const auto model = folder.path() / "a<b>&\"c";
  std::filesystem::create_directory(model);
  std::filesystem::copy(repo_path("tests/golden/plan/llama-7b/config.json"), model / "config.json");
  const std::string svg = (folder.path() / "p.svg").string();
  const std::string arguments = "'" + model.string() + "' --gpu h100-80g --svg " + svg;
  ASSERT_EQ(plan(arguments).code, 0);
  std::ifstream in(svg);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  EXPECT_TRUE(text.starts_with("<svg xmlns")) << text.substr(0, 80);
  EXPECT_NE(text.find("a&lt;b&gt;&amp;&quot;c"), std::string::npos);
  EXPECT_EQ(text.find("a<b>"), std::string::npos);
  EXPECT_EQ(text.find("<script"), std::string::npos);
  for (const char* what : {"prefers-color-scheme: dark", "weights 13.48 GB", "Roofline of", "FLOPs a byte", "free "}) {
    EXPECT_NE(text.find(what), std::string::npos) << what;
  }
  const Ran again = plan(arguments);
  EXPECT_EQ(again.code, 1) << again.out;
  EXPECT_EQ(plan(arguments + " --force").code, 0);
}

TEST(PlanCli, FilesKeepTheirOwnTypes) {
  const Value file = json_plan("tests/golden/llama-gqa --engine gpu");
  const Value widened = json_plan("tests/golden/llama-gqa --engine gpu --weights f32");
  EXPECT_EQ(amount(widened, "memory", "weights"), 4 * amount(widened, "parameters"));
  EXPECT_EQ(amount(file, "parameters"), amount(widened, "parameters"));
}

// ---- refusals ----

TEST(PlanCli, NonsenseIsRefusedByName) {
  struct Case {
    std::string arguments, what;
    int code;
  };
  const std::vector<Case> cases = {
      {"", "MODEL is missing", 2},
      {kLlama7B + "--context -5", "--context", 2},
      {kLlama7B + "--context 0", "--context", 2},
      {kLlama7B + "--context 10000000000000000000", "--context", 2},
      {kLlama7B + "--context 2000m", "--context", 2},
      {kLlama7B + "--users 99999999999", "--users", 2},
      {kLlama7B + "--users 1m --context 1024m", "cache", 1},
      {kLlama7B + "--weights q9", "--weights", 2},
      {kLlama7B + "--fit 24G", "--fit", 2},
      {kLlama7B + "--count 4", "--gpu", 2},
      {kLlama7B + "--gpu h99", "h99", 1},
      {kLlama7B + "--contxt 3", "did you mean --context?", 2},
      {kLlama7B + "--page-size 12", "page size 12", 1},
      {kLlama7B + "--zero 3", "--train", 2},
      {kLlama7B + "--train --tp 3", "--tp 3", 1},
      {kLlama7B + "--train --mfu 2", "--mfu", 2},
      {kLlama7B + "--train --recipe foo", "--recipe", 2},
      {kLlama7B + "--json --explain", "--json", 2},
      {"tests/golden/plan/gpt2 --context 2000", "1024", 1},
      {"/no/such/model", "/no/such/model", 1},
      {"--compare tests/golden/plan/llama-7b", "--compare", 2},
      {"--arch llama --d-model 64", "--n-layer", 1},
      {"--arch llama --d-model -5 --n-layer 2", "--d-model", 1},
      {"--arch llama --d-model 64 --n-layer 1000000000000000000", "--n-layer", 1},
      {"--arch nothing --d-model 64 --n-layer 2", "--arch nothing", 1},
  };
  for (const Case& c : cases) {
    const Ran ran = plan(c.arguments);
    EXPECT_EQ(ran.code, c.code) << c.arguments << "\n" << ran.out;
    EXPECT_TRUE(ran.out.starts_with("vitro plan: ")) << ran.out;
    EXPECT_NE(ran.out.find(c.what), std::string::npos) << c.arguments << "\n" << ran.out;
  }
}

TEST(PlanCli, BrokenConfigurationsNameTheKey) {
  TempFolder folder;
  const auto write = [&](const std::string& from, const std::string& to) {
    std::ifstream in(repo_path("tests/golden/plan/llama-7b/config.json"));
    std::string text(std::istreambuf_iterator<char>(in), {});
    text.replace(text.find(from), from.size(), to);
    std::ofstream(folder.path() / "config.json") << text;
  };
  const auto expect_named = [&](const std::string& key) {
    const Ran ran = plan(folder.path().string());
    EXPECT_EQ(ran.code, 1) << ran.out;
    EXPECT_NE(ran.out.find(key), std::string::npos) << ran.out;
  };
  write("\"hidden_size\": 4096,", "");
  expect_named("hidden_size");
  write("\"num_hidden_layers\": 32", "\"num_hidden_layers\": 1000000000000000000");
  expect_named("num_hidden_layers");
  write("\"intermediate_size\": 11008", "\"intermediate_size\": -11008");
  expect_named("intermediate_size");
}

// ---- what the documents promise ----

TEST(PlanCli, ExamplesOfHelpRun) {
  const Ran help = plan("--help");
  ASSERT_EQ(help.code, 0);
  std::stringstream lines(help.out);
  int n_run = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t start = line.find("vitro plan ");
    if (start == std::string::npos || start > 4) continue;
    ++n_run;
    const Ran ran = in_sources(line.substr(start) + " 2>&1");
    EXPECT_EQ(ran.code, 0) << line << "\n" << ran.out;
  }
  EXPECT_GE(n_run, 5);
}

// A block of a document: lines "$ command", each followed by what it prints.
struct Shown {
  std::string command, output;
};
std::vector<Shown> shown_in(const std::filesystem::path& document) {
  std::vector<Shown> all;
  std::ifstream in(document);
  bool is_inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      is_inside = !is_inside && line == "```";
      continue;
    }
    if (!is_inside) continue;
    if (line.starts_with("$ ")) {
      all.push_back({line.substr(2), ""});
    } else if (!all.empty()) {
      all.back().output += line + "\n";
    }
  }
  return all;
}

TEST(PlanCli, MemoryDocumentShowsWhatIsPrinted) {
  const std::vector<Shown> all = shown_in(repo_path("docs/memory.md"));
  EXPECT_GE(all.size(), 8u);
  for (const Shown& shown : all) {
    const Ran ran = in_sources(shown.command + " 2>&1");
    EXPECT_EQ(ran.out, shown.output) << shown.command;
  }
}

}  // namespace
}  // namespace vitro::testing
