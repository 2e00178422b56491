// What `vitro plan` refuses, and what the documents promise: examples of help, commands of docs/memory.md with their
// output.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "testing/plan_runs.h"
#include "testing/shared_data.h"
#include "testing/temp_folder.h"

namespace vitro::testing {
namespace {

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
      {kLlama7B + "--train --gather blocks", "there are block, tensor", 2},
      {kLlama7B + "--train --recipe foo", "--recipe", 2},
      {kLlama7B + "--json --explain", "--json", 2},
      {kLlama7B + "--train --weights q4_k", "--weights", 2},
      {kLlama7B + "--train --gpu a100-80g --count 8", "--count", 2},
      {kLlama7B + "--train --engine gpu", "--engine", 2},
      {kLlama7B + "--loss-rows 5", "--loss", 2},
      {kLlama7B + "--devices data/devices.json", "--gpu", 2},
      {kLlama7B + "--compare-weights q8_0", "--fit", 2},
      {kLlama7B + "--source 10", "--source", 1},
      {kLlama7B + "--mla expanded", "--mla", 1},
      {kLlama7B + "--mla none", "--mla", 2},
      {"--compare tests/golden/plan/llama-7b tests/golden/plan/gpt2 --svg x.svg", "--svg", 2},
      {"tests/golden/plan/gpt2 --context 2000", "1024", 1},
      {"/no/such/model", "/no/such/model", 1},
      {"--compare tests/golden/plan/llama-7b", "--compare", 2},
      {"--arch llama --d-model 64", "--n-layer", 1},
      {"--arch llama --d-model -5 --n-layer 2", "--d-model", 1},
      {"--arch llama --d-model 64 --n-layer 1000000000000000000", "--n-layer", 1},
      {"--arch nothing --d-model 64 --n-layer 2", "nothing", 1},
  };
  for (const Case& c : cases) {
    const Ran ran = run_plan(c.arguments);
    EXPECT_EQ(ran.code, c.code) << c.arguments << "\n" << ran.out;
    EXPECT_TRUE(ran.out.starts_with("vitro plan: ")) << ran.out;
    EXPECT_NE(ran.out.find(c.what), std::string::npos) << c.arguments << "\n" << ran.out;
  }
}

TEST(PlanCli, RefusedTogetherWithTrainingAreNamedBoth) {
  for (const char* option : {"--weights f32", "--embeddings f32", "--cache-type f32", "--window-cache", "--mla latent",
                             "--page-size 8", "--threads 2", "--engine gpu", "--prompt 5", "--chunk 5",
                             "--compare-weights f32", "--gpu a100-80g --count 2"}) {
    const Ran ran = run_plan(kLlama7B + "--train " + option);
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_NE(ran.out.find("--train"), std::string::npos) << ran.out;
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
    const Ran ran = run_plan(folder.path().string());
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
  const Ran help = run_plan("--help");
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
