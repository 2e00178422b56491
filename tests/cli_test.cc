// The program as a user meets it: what works, and for bad input one clear message, the right exit code, and nothing
// else.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "testing/engine.h"
#include "testing/random_model.h"
#include "testing/safetensors_writer.h"
#include "testing/shared_data.h"

namespace vitro::testing {
namespace {

struct Ran {
  int code = -1;
  std::string out;  ///< standard output and error together
};

// Runs `vitro ARGUMENTS` in a shell, with nothing on standard input.
Ran vitro(const std::string& arguments, const std::string& prefix = "") {
  Ran ran;
  const std::string command = prefix + " " VITRO_BINARY " " + arguments + " 2>&1 </dev/null";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> block;
  size_t n_read = 0;
  while ((n_read = std::fread(block.data(), 1, block.size(), pipe)) > 0) ran.out.append(block.data(), n_read);
  ran.code = WEXITSTATUS(::pclose(pipe));
  return ran;
}

std::string golden(const std::string& name) { return repo_path("tests/golden/" + name).string(); }

// Exit code 1, one line, starting with the command, holding `what`.
void expect_refused(const Ran& ran, const std::string& what) {
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_TRUE(ran.out.starts_with("vitro ")) << ran.out;
  EXPECT_NE(ran.out.find(what), std::string::npos) << ran.out;
}
void expect_one_line(const Ran& ran) { EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << ran.out; }

// A copy of a golden whose config or weights can be broken.
class BrokenModel : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* file : {"config.json", "model.safetensors"})
      std::filesystem::copy(golden("llama-gqa") + "/" + file, folder_.path());
  }
  void replace_in_config(const std::string& old_text, const std::string& new_text) {
    std::ifstream in(folder_.path() / "config.json");
    std::stringstream text;
    text << in.rdbuf();
    std::string config = text.str();
    const size_t at = config.find(old_text);
    ASSERT_NE(at, std::string::npos) << old_text;
    config.replace(at, old_text.size(), new_text);
    write_file(folder_.path() / "config.json", config);
  }
  // Rewrites the weights, each tensor through `change(name, shape, data)`; false leaves it out.
  template <class Change>
  void rewrite_weights(Change change) {
    SafetensorsWriter writer;
    {
      const auto checkpoint = Checkpoint::open(folder_.path());
      ASSERT_TRUE(checkpoint.has_value());
      for (const WeightEntry& entry : checkpoint->tensors()) {
        const auto bytes = checkpoint->view(entry).bytes();
        std::string data(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        Shape shape = entry.shape;
        if (change(entry.name, shape, data)) writer.add(entry.name, entry.dtype, shape, data);
      }
    }
    write_file(folder_.path() / "model.safetensors", writer.bytes());
  }
  Ran run(const std::string& options = "") {
    return vitro("run " + folder_.path().string() + " --ids 1,2,3 --max-tokens 2 " + options);
  }

  TempFolder folder_;
};

TEST(Cli, RunsOnIdsAlone) {
  const Ran ran = vitro("run " + golden("llama-gqa") + " --ids 22,223,208,354,85,123,291 --max-tokens 12 --ignore-end");
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_NE(ran.out.find("322 328 362 115 296 200 135 135 135 135 135 135"), std::string::npos)
      << ran.out;  // the golden's greedy
}

TEST(Cli, TheSameTextWithoutCacheAndOnEveryTable) {
  const std::string arguments = "run " + golden("qwen3") + " --ids 5,6,7,8 --max-tokens 8 --ignore-end";
  const std::string expected = vitro(arguments).out.substr(0, 20);
  EXPECT_EQ(vitro(arguments + " --no-cache").out.substr(0, 20), expected);
  EXPECT_EQ(vitro(arguments + " --threads 3 --page-size 8").out.substr(0, 20), expected);
  for (const KernelTable* table : all_tables()) {
    const Ran ran = vitro(arguments, std::string("VITRO_ISA=") + table->name);
    EXPECT_EQ(ran.out.substr(0, 20), expected) << table->name;
    EXPECT_NE(ran.out.find(std::string("kernels ") + table->name), std::string::npos) << ran.out;
  }
}

TEST(Cli, SeedsDecide) {
  const std::string arguments =
      "run " + golden("gpt2") + " --ids 1,2,3 --max-tokens 30 --ignore-end --temperature 3 --seed ";
  EXPECT_EQ(vitro(arguments + "7").out.substr(0, 60), vitro(arguments + "7").out.substr(0, 60));
  EXPECT_NE(vitro(arguments + "7").out.substr(0, 60), vitro(arguments + "8").out.substr(0, 60));
}

TEST(Cli, HelpShowsAnExample) {
  for (const std::string command : {"run", "tokenize", "show", "eval", "verify", "demo"}) {
    const Ran ran = vitro(command + " --help");
    EXPECT_EQ(ran.code, 0) << command;
    EXPECT_NE(ran.out.find("vitro " + command), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("Example:"), std::string::npos) << ran.out;
  }
}

TEST(Cli, WrongUsageIsTwo) {
  EXPECT_EQ(vitro("").code, 2);
  const Ran unknown_option = vitro("run " + golden("gpt2") + " --temprature 1");
  EXPECT_EQ(unknown_option.code, 2);
  EXPECT_NE(unknown_option.out.find("did you mean --temperature?"), std::string::npos) << unknown_option.out;
  const Ran unknown_command = vitro("rum");
  EXPECT_EQ(unknown_command.code, 2);
  EXPECT_NE(unknown_command.out.find("did you mean 'run'?"), std::string::npos) << unknown_command.out;
}

TEST(Cli, MissingFilesAndFolders) {
  TempFolder empty;
  expect_refused(vitro("run /no/such/model hi"), "/no/such/model");
  expect_refused(vitro("run " + empty.path().string() + " hi"), "config.json");
  write_file(empty.path() / "page.gguf", "<!DOCTYPE html><html>not found</html>");
  expect_refused(vitro("run " + (empty.path() / "page.gguf").string() + " hi"), "page.gguf");
  write_file(empty.path() / "empty.gguf", "");
  expect_refused(vitro("run " + (empty.path() / "empty.gguf").string() + " hi"), "empty.gguf");
}

TEST(Cli, TruncatedFile) {
  TempFolder folder;
  const auto path = write_random_model(folder.path(), {});
  std::filesystem::resize_file(path, std::filesystem::file_size(path) * 2 / 3);
  const Ran ran = vitro("run " + path.string() + " --ids 1");
  expect_refused(ran, "random.gguf");
  EXPECT_NE(ran.out.find("incomplete"), std::string::npos) << ran.out;
  expect_one_line(ran);
}

TEST(Cli, PromptsThatDoNotFit) {
  const Ran ran = vitro("run " + golden("gpt2") + " --ids 1,2,3,4,5,6,7,8,9 --context 8");
  expect_refused(ran, "9 tokens");
  expect_one_line(ran);
  expect_refused(vitro("run " + golden("gpt2") + " --ids 1,2 --context 4000"), "128");  // learned positions end there
  expect_refused(vitro("run " + golden("gpt2") + " --ids 1,999"), "999");
  expect_refused(vitro("run " + golden("gpt2") + " --ids 1,x"), "'x'");
  expect_refused(vitro("run " + golden("gpt2") + " --ids 1 --threads 0"), "--threads 0");
  expect_refused(vitro("run " + golden("gpt2") + " hello"), "--ids");  // the folder has no tokenizer
  expect_refused(vitro("run " + golden("gpt2") + " --ids 1 --page-size 12"), "multiple of 8");
  expect_refused(vitro("run " + golden("gpt2") + " --ids 1", "VITRO_ISA=sse9"), "sse9");
}

TEST_F(BrokenModel, UnknownArchitecture) {
  replace_in_config("\"model_type\": \"llama\"", "\"model_type\": \"lama\"");
  const Ran ran = run();
  expect_refused(ran, "lama");
  EXPECT_NE(ran.out.find("llama"), std::string::npos) << ran.out;  // the known ones are listed
}

TEST_F(BrokenModel, UnknownKey) {
  replace_in_config("\"hidden_act\"", "\"rotary_twist\": 3, \"hidden_act\"");
  const Ran ran = run();
  expect_refused(ran, "rotary_twist");
}

TEST_F(BrokenModel, NonsenseSizes) {
  replace_in_config("\"num_attention_heads\": 4", "\"num_attention_heads\": 0");
  expect_refused(run(), "num_attention_heads");
}

TEST_F(BrokenModel, MissingAndMisshapenTensorsAreListedAtOnce) {
  rewrite_weights([](const std::string& name, Shape& shape, std::string&) {
    if (name == "model.layers.1.self_attn.k_proj.weight") shape = Shape({shape[1], shape[0]});
    return name != "model.norm.weight" && name != "model.layers.3.mlp.up_proj.weight";
  });
  const Ran ran = run();
  expect_refused(ran, "model.norm.weight");
  EXPECT_NE(ran.out.find("model.layers.3.mlp.up_proj.weight"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("model.layers.1.self_attn.k_proj.weight"), std::string::npos) << ran.out;
}

TEST_F(BrokenModel, NanWeights) {
  rewrite_weights([](const std::string& name, Shape&, std::string& data) {
    if (name == "model.layers.2.mlp.gate_proj.weight")
      data[2 * (64 * 5 + 3) + 1] = '\x7f', data[2 * (64 * 5 + 3)] = '\xc0';
    return true;
  });
  const Ran checked = run("--check-weights");
  expect_refused(checked, "model.layers.2.mlp.gate_proj.weight");
  EXPECT_NE(checked.out.find("row 5"), std::string::npos) << checked.out;
  expect_one_line(checked);
  expect_refused(run(), "not a number");  // unchecked, the logits show it
}

TEST_F(BrokenModel, SoundCopyRuns) {
  rewrite_weights([](const std::string&, Shape&, std::string&) { return true; });
  EXPECT_EQ(run("--check-weights").code, 0);
}

}  // namespace
}  // namespace vitro::testing
