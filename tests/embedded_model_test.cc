// The model in the program, as a user meets it: the reference's numbers, and everything works with no file, no folder
// and no environment.
#include <gtest/gtest.h>

#include "embedded/embedded_model.h"
#include "inspect/expectation.h"
#include "inspect/verify.h"
#include "testing/data_file.h"
#include "testing/engine.h"
#include "testing/run_program.h"
#include "testing/temp_folder.h"

namespace vitro::testing {
namespace {

constexpr const char* kNoTalk = "2>/dev/null";

/// Runs in an empty folder with an empty environment; `input` goes to the standard input, `talk` is where stderr goes.
Ran bare_vitro(const std::string& arguments, const std::string& input = "", const std::string& talk = "2>&1") {
  const TempFolder folder;
  const Ran ran = shell("cd " + folder.path().string() + " && printf '%s' '" + input + "' | env -i " VITRO_BINARY " " +
                        arguments + " " + talk);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << arguments;
  return ran;
}

void expect_says(const Ran& ran, int code, const std::string& what) {
  EXPECT_EQ(ran.code, code) << ran.out;
  EXPECT_NE(ran.out.find(what), std::string::npos) << "no '" << what << "' in " << ran.out;
}

// tools/make_embedded_expectations.py wrote the numbers: PyTorch in float64, ids by the tokenizers package.
TEST(Embedded, AsTheReferenceOnEveryTable) {
  for (const KernelTable* table : all_tables()) {
    Bench bench(*table, 2);
    const VerifyOptions options{.model = kEmbeddedModel, .tolerance = {.top_error = 2e-5}};
    const auto report = verify_folder(repo_path("tests/data/embedded"), options, bench.ctx);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    for (const std::string& failure : report->failures) ADD_FAILURE() << table->name << ": " << failure;
    EXPECT_GE(report->top_error, 0);
    EXPECT_GE(report->nll_error, 0);
    EXPECT_EQ(report->n_greedy_equal, 6 * 48) << table->name;
  }
}

TEST(Embedded, TextOfTheProgramIsTheReferences) {
  const Value expected = json_file("tests/data/embedded/expected.json");
  for (const Value& row : *expected.find("rows")->as_array()) {
    std::string ids;
    for (const Value& id : *row.find("ids")->as_array()) ids += (ids.empty() ? "" : ",") + std::to_string(*id.as_int());
    const Ran ran = bare_vitro(
        "run embedded --temperature 0 --max-tokens 48 --ignore-end --cache-type f32 --ids " + ids, "", kNoTalk);
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.out, *row.find("greedy_text")->as_string());
  }
}

TEST(Embedded, RunNeedsNoArguments) {
  const Ran ran = bare_vitro("run");
  expect_says(ran, 0, "model: the one in this program");
  expect_says(ran, 0, "prompt: ");
  expect_says(ran, 0, "128 generated");
}

TEST(Embedded, RunContinuesStandardInputWithoutAModel) {
  const std::string options = "--temperature 0 --max-tokens 8";
  const Ran piped = bare_vitro("run " + options, "And God said, Let there be", kNoTalk);
  const Ran named = bare_vitro("run embedded \"And God said, Let there be\" " + options, "", kNoTalk);
  EXPECT_EQ(named.code, 0);
  EXPECT_FALSE(named.out.empty());
  EXPECT_EQ(piped.out, named.out);
}

TEST(Embedded, ATextInTheModelsPlaceIsExplained) {
  expect_says(bare_vitro("run 'Once upon a time'"), 1, "vitro run embedded");
  EXPECT_EQ(bare_vitro("run ./embedded").out.find("vitro run embedded"), std::string::npos);
}

TEST(Embedded, OtherCommandsKnowItsName) {
  expect_says(bare_vitro("show embedded"), 0, "(blocks)");
  expect_says(bare_vitro("tokenize embedded 'And God said'"), 0, "byte-level BPE");
  expect_says(bare_vitro("eval embedded /dev/stdin", "In the beginning God created the heaven"), 0, "perplexity");
  expect_says(bare_vitro("plan embedded"), 0, "embedded");
  expect_says(bare_vitro("verify " + repo_path("tests/data/embedded").string() + " --model embedded"), 0, "embedded");
  expect_says(bare_vitro("demo embedded"), 0, "the same text");
  expect_says(bare_vitro("chat embedded"), 1, "no chat template");
  expect_says(bare_vitro("template embedded -", "[]"), 1, "template");
}

}  // namespace
}  // namespace vitro::testing
