// The program as a user meets it: what works, and for bad input one clear message, the right exit code, and nothing
// else.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "formats/json.h"
#include "inspect/expectation.h"
#include "testing/engine.h"
#include "testing/golden_twin.h"
#include "testing/random_model.h"
#include "testing/run_program.h"
#include "testing/safetensors_writer.h"
#include "testing/shared_data.h"

namespace vitro::testing {
namespace {

// Runs `vitro ARGUMENTS` with nothing on standard input.
Ran vitro(const std::string& arguments, const std::string& prefix = "") {
  return shell(prefix + " " VITRO_BINARY " " + arguments + " 2>&1 </dev/null");
}

// The same, standard output alone, as one JSON document.
Value json_of(const std::string& arguments, int expected_code = 0) {
  const Ran ran = shell(VITRO_BINARY " " + arguments + " 2>/dev/null </dev/null");
  EXPECT_EQ(ran.code, expected_code) << arguments << ran.out;
  auto value = parse_json(ran.out, arguments);
  EXPECT_TRUE(value.has_value()) << ran.out;
  return value ? *std::move(value) : Value();
}
const Value& member(const Value& object, std::string_view key) {
  static const Value kNothing;
  const Value* found = object.find(key);
  EXPECT_NE(found, nullptr) << "no '" << key << "' in " << to_string(object);
  return found ? *found : kNothing;
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
  std::string path() const { return folder_.path().string(); }
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
  const Ran plain = vitro(arguments);
  ASSERT_EQ(plain.code, 0) << plain.out;
  const std::string expected = plain.out.substr(0, 20);
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
  for (const std::string command :
       {"run", "chat", "template", "tokenize", "tokenizer train", "show", "eval", "verify", "demo"}) {
    const Ran ran = vitro(command + " --help");
    EXPECT_EQ(ran.code, 0) << command;
    EXPECT_NE(ran.out.find("vitro " + command), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("Example:"), std::string::npos) << ran.out;
  }
}

TEST(Cli, DemoWithoutItsModelSaysHowToGetItAndShowsTheEmbeddedOne) {
  TempFolder nothing;
  const Ran ran = vitro("demo", "VITRO_CACHE=" + nothing.path().string());
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_NE(ran.out.find("vitro pull smollm2"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("\nembedded\nllama family"), std::string::npos) << ran.out;
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

// Every command that needs no downloaded model, with arguments that work.
std::vector<std::string> working_commands() {
  const std::string tokenizer = repo_path("tests/data/tokens/llama3-like.tokenizer.json").string();
  return {"--help",
          "run --help",
          "show " + golden("llama-gqa"),
          "show " + golden("llama-gqa") + " --tensors --json",
          "run " + golden("llama-gqa") + " --ids 1,2,3 --max-tokens 4",
          "run " + golden("llama-gqa") + " --ids 1,2,3 --max-tokens 4 --json",
          "eval " + golden("llama-gqa") + " --ids 1,2,3",
          "eval " + golden("llama-gqa") + " --ids 1,2,3 --cache-type f32,int8",
          "verify " + golden("llama-mqa"),
          "tokenize " + tokenizer + " 'The glass is clear.'",
          "tokenize " + tokenizer + " 'The glass is clear.' --count",
          "tokenize " + tokenizer + " 'The glass is clear.' --html -"};
}

TEST(Output, AFullDiskIsOneLineAndOne) {
  for (const std::string& command : working_commands()) {
    const Ran ran = shell(VITRO_BINARY " " + command + " 2>&1 >/dev/full </dev/null");
    EXPECT_EQ(ran.code, 1) << command;
    EXPECT_EQ(ran.out, "vitro: the output cannot be written: No space left on device\n") << command;
  }
}

TEST(Output, AReaderThatLeftEndsQuietly) {
  for (const std::string& command : working_commands()) {
    const Ran ran =
        shell("{ { sleep 0.1; " VITRO_BINARY " " + command + " 2>&3 </dev/null; echo $? >&3; } | true; } 3>&1");
    EXPECT_EQ(ran.out, "1\n") << command;
  }
}

TEST(Output, AClosedErrorStreamIsNoHarm) {
  for (const std::string& command : working_commands())
    EXPECT_EQ(shell(VITRO_BINARY " " + command + " 2>&- >/dev/null </dev/null").code, 0) << command;
}

TEST(Cli, ContradictionsAreWrongUsage) {
  const std::string run = "run " + golden("gpt2"), eval = "eval " + golden("gpt2");
  for (const auto& [command, first, second] :
       std::vector<std::array<std::string, 3>>{{run + " hi --ids 1", "PROMPT", "--ids"},
                                               {run + " hi --file x", "PROMPT", "--file"},
                                               {run + " --ids 1 --file x", "--ids", "--file"},
                                               {eval + " x --ids 1", "FILE", "--ids"}}) {
    const Ran ran = vitro(command);
    EXPECT_EQ(ran.code, 2) << command;
    EXPECT_NE(ran.out.find(first), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find(second), std::string::npos) << ran.out;
    expect_one_line(ran);
  }
}

TEST(Cli, AbsurdNumbers) {
  const std::string run = "run " + golden("llama-gqa") + " --ids 1,2 ";
  expect_refused(vitro(run + "--threads -1"), "--threads -1: expected 1 to 1024");
  expect_refused(vitro(run + "--page-size 1000000000000000"), "multiple of 8");
  expect_refused(vitro(run + "--context 9223372036854775807"), "9223372036854775807");
  for (const char* option : {"--max-tokens -1", "--context 0", "--page-size 0", "--page-size -8", "--top -1"}) {
    const Ran ran = vitro(run + option);
    EXPECT_EQ(ran.code, 2) << option << ran.out;
    EXPECT_LT(ran.out.size(), 200u) << ran.out;
  }
  const Ran longest = vitro(run + "--ignore-end --max-tokens 9223372036854775807");
  EXPECT_EQ(longest.code, 0) << longest.out;
  EXPECT_NE(longest.out.find("(context)"), std::string::npos) << longest.out;
  const std::string eval = "eval " + golden("llama-gqa") + " --ids 1,2,3 ";
  expect_refused(vitro(eval + "--window -5"), "--window -5");
  expect_refused(vitro(eval + "--stride 0"), "--stride 0");
  expect_refused(vitro(eval + "--window 4 --stride 5"), "--stride 5");
  EXPECT_EQ(to_string(member(json_of(eval + "--json --window 9223372036854775807"), "mean_nll")),
            to_string(member(json_of(eval + "--json"), "mean_nll")));  // only the text's length is made room for
}

// A model without the stretching that its file asks for, trained at `n_ctx`.
void copy_unstretched(const std::filesystem::path& model, int64_t n_ctx, const std::filesystem::path& folder) {
  std::filesystem::copy(model / "model.safetensors", folder);
  Value config = load_json(model / "config.json");
  for (Value::Member& entry : *config.as_object()) {
    if (entry.first == "rope_parameters") entry.second = Value();
    if (entry.first == "max_position_embeddings") entry.second = Value(n_ctx);
  }
  write_file(folder / "config.json", to_string(config, 100000));
}

// A model stretched by the user is the one whose file says so, to the bit.
TEST(Cli, RopeStretchesAsAFileWould) {
  struct Case {
    const char *model, *rope;
    int64_t n_ctx;
  };
  std::string ids = " --json --ids 5";
  for (int i = 1; i < 40; ++i) ids += fmt::format(",{}", 3 + i * 7 % 59);
  for (const Case& c :
       {Case{"golden/llama-rope-linear", "linear:4", 32}, Case{"golden/llama-rope-dynamic", "dynamic:2", 32},
        Case{"golden/llama-rope-yarn", "yarn:4", 2048}, Case{"data/own/llama-ntk", "ntk:4", 16}}) {
    SCOPED_TRACE(c.model);
    const std::filesystem::path model = repo_path("tests") / c.model;
    TempFolder plain;
    copy_unstretched(model, c.n_ctx, plain.path());
    const std::string eval = "eval " + plain.path().string() + ids;
    const std::string expected = to_string(member(json_of("eval " + model.string() + ids), "mean_nll"));
    EXPECT_EQ(to_string(member(json_of(eval + " --rope " + c.rope), "mean_nll")), expected);
    EXPECT_NE(to_string(member(json_of(eval), "mean_nll")), expected);
  }
}

TEST(Cli, RopeRefusesWhatCannotBeStretched) {
  const std::string run = " --ids 1,2 --rope ";
  expect_refused(vitro("run " + golden("gpt2") + run + "yarn:4"), "no rotary positions");
  expect_refused(vitro("run " + golden("llama-rope-llama3") + run + "yarn:4"), "stretched already");
  expect_refused(vitro("eval " + golden("llama-gqa") + run + "linear:0.5"), "--rope linear:0.5: factor 0.5");
  for (const char* rope : {"yarn", "warp:2", "linear:x"}) {
    const Ran ran = vitro("run " + golden("llama-gqa") + run + rope);
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_NE(ran.out.find("KIND:FACTOR"), std::string::npos) << ran.out;
  }
}

TEST(Cli, LoadModesAgree) {
  const std::string arguments = "run " + golden("gemma3") + " --ids 3,4,5 --max-tokens 8 --ignore-end --json";
  const Value mapped = json_of(arguments + " --load map"), read = json_of(arguments + " --load read");
  EXPECT_EQ(to_string(member(mapped, "tokens"), 100000), to_string(member(read, "tokens"), 100000));
  EXPECT_EQ(vitro(arguments + " --load float").code, 2);
}

TEST(Cli, EveryCacheTypeGivesTheSameTextWithoutTheCache) {
  for (const CacheType type : all_cache_types()) {
    if (type == CacheType::kQ8_0) continue;  // heads of 16
    const std::string name(cache_type_info(type).name);
    const std::string arguments = "run " + golden("llama-gqa") +
                                  " --ids 22,223,208,354,85,123,291 --max-tokens 12 --ignore-end --cache-type " + name;
    const Value with = json_of(arguments + " --json"), without = json_of(arguments + " --json --no-cache");
    EXPECT_EQ(to_string(member(with, "tokens"), 100000), to_string(member(without, "tokens"), 100000)) << name;
    EXPECT_EQ(*member(with, "cache_type").as_string(), name);
    // Two pages of 16 positions; K and V of four layers, two heads of 16.
    EXPECT_EQ(*member(with, "cache_bytes").as_int(), 2 * 16 * 4 * 2 * 2 * cache_row_bytes(type, 16));
    EXPECT_NE(vitro(arguments).out.find(name + " cache "), std::string::npos);
  }
  EXPECT_EQ(*member(json_of("run " + golden("llama-gqa") + " --ids 1 --json"), "cache_type").as_string(), "f16");
}

TEST(Cli, CacheTypesThatAreNone) {
  for (const std::string command : {"run", "eval", "verify"}) {
    const std::string ids = command == "verify" ? "" : " --ids 1,2,3";
    for (const char* type : {"f8", "''", "f16,", "f16,f16"}) {
      const Ran ran = vitro(command + " " + golden("llama-gqa") + ids + " --cache-type " + type);
      EXPECT_EQ(ran.code, 2) << ran.out;
      expect_one_line(ran);
    }
    const Ran ran = vitro(command + " " + golden("llama-gqa") + ids + " --cache-type int4");
    EXPECT_NE(ran.out.find("there are f32, f16, bf16, q8_0, int8, fp8"), std::string::npos) << ran.out;
    const Ran narrow = vitro(command + " " + golden("llama-gqa") + ids + " --cache-type q8_0");
    EXPECT_EQ(narrow.code, 1) << narrow.out;
    EXPECT_NE(narrow.out.find("int8, fp8 and f16 take heads of any width"), std::string::npos) << narrow.out;
  }
  EXPECT_EQ(vitro("run " + golden("llama-gqa") + " --ids 1 --cache-type f16,f32").code, 2);
}

TEST(Cli, LongRopesSwitchIsSaid) {
  const std::string arguments =
      "run " + golden("phi3-longrope") + " --ids 22,223,208,354,85,123,291 --ignore-end --max-tokens ";
  const Ran ran = vitro(arguments + "40");
  EXPECT_EQ(ran.code, 0) << ran.out;
  const std::string line = "context passed 32 tokens: 32 tokens were computed anew with LongRoPE's long factors\n";
  EXPECT_NE(ran.out.find(line), std::string::npos) << ran.out;
  const Value with = json_of(arguments + "40 --json"), without = json_of(arguments + "40 --json --no-cache");
  EXPECT_EQ(to_string(member(with, "tokens"), 100000), to_string(member(without, "tokens"), 100000));
  EXPECT_EQ(*member(with, "recomputed_tokens").as_int(), 32);
  EXPECT_EQ(*member(without, "recomputed_tokens").as_int(), 0);
  EXPECT_EQ(vitro(arguments + "26").out.find("computed anew"), std::string::npos);
}

// Windows of 8, one token at a time: 8 positions touch at most 2 pages of 8, in place of 10.
TEST(Cli, AWindowCacheGivesTheSameTextInLessMemory) {
  const std::string arguments =
      "run " + golden("mistral-sliding") + " --ids 5 --max-tokens 79 --ignore-end --page-size 8 --json";
  const Value all = json_of(arguments), windows = json_of(arguments + " --window-cache");
  EXPECT_EQ(to_string(member(all, "tokens"), 100000), to_string(member(windows, "tokens"), 100000));
  const int64_t n_all = *member(all, "cache_bytes").as_int(), n_windows = *member(windows, "cache_bytes").as_int();
  EXPECT_EQ(n_windows * 10, n_all * 2) << n_windows << " of " << n_all;
}

// Mean of -log softmax of the reference's stored logits at the next id, over one sequence.
double reference_nll(const std::string& name, const std::vector<int32_t>& ids, const std::string& tensor) {
  const Expectation expected = open_expectation(golden(name)).value();
  const ConstRows logits = expected.tensors->find(tensor).value();
  double total = 0;
  for (size_t i = 1; i < ids.size(); ++i) {
    const float* row = logits.row(static_cast<int64_t>(i) - 1);
    double sum = 0;
    for (int64_t j = 0; j < logits.width; ++j) sum += std::exp(static_cast<double>(row[j]));
    total += std::log(sum) - static_cast<double>(row[ids[i]]);
  }
  return total / static_cast<double>(ids.size() - 1);
}

TEST(Eval, AgreesWithTheReferencesLogits) {
  const double expected = reference_nll("llama-gqa", {22, 223, 208, 354, 85, 123, 291}, "logits.1");
  const std::string arguments = "eval " + golden("llama-gqa") + " --ids 22,223,208,354,85,123,291";
  const Value result = json_of(arguments + " --cache-type f32 --json");
  EXPECT_NEAR(*member(result, "mean_nll").as_real(), expected, 1e-4);
  EXPECT_NEAR(*member(result, "perplexity").as_real() / std::exp(expected), 1, 1e-4);
  EXPECT_EQ(*member(result, "tokens").as_int(), 6);
  const Ran text = vitro(arguments + " --no-bos");
  EXPECT_EQ(text.code, 0) << text.out;
  EXPECT_NE(text.out.find("perplexity "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("6 scored of 7"), std::string::npos) << text.out;
}

TEST(Eval, ComparesCacheTypesWithTheFirst) {
  const double expected = reference_nll("llama-gqa", {22, 223, 208, 354, 85, 123, 291}, "logits.1");
  const std::string arguments =
      "eval " + golden("llama-gqa") + " --ids 22,223,208,354,85,123,291 --cache-type f32,f16,fp8";
  const Value result = json_of(arguments + " --json");
  EXPECT_EQ(*member(result, "tokens").as_int(), 6);
  const Value::Array& rows = *member(result, "cache_types").as_array();
  ASSERT_EQ(rows.size(), 3u);
  const int64_t n_heads = 4 * 2 * 2;  // layers, K and V, heads of 16
  const std::array expected_bytes{n_heads * 16 * 4, n_heads * 16 * 2, n_heads * (16 + 2)};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(*member(rows[i], "cache_bytes_per_token").as_int(), expected_bytes[i]);
    EXPECT_EQ(*member(rows[i], "cache_bytes").as_int(), expected_bytes[i] * 16);  // one page
    EXPECT_NEAR(*member(rows[i], "perplexity_change_percent").as_real(),
                100 * (*member(rows[i], "perplexity").as_real() / *member(rows[0], "perplexity").as_real() - 1), 1e-9);
    EXPECT_GT(*member(rows[i], "tokens_per_second").as_real(), 0);
  }
  EXPECT_NEAR(*member(rows[0], "mean_nll").as_real(), expected, 1e-5);
  EXPECT_NEAR(*member(rows[1], "mean_nll").as_real(), expected, expected * 0x1p-11);  // f16 keeps eleven bits
  EXPECT_NE(*member(rows[2], "mean_nll").as_real(), *member(rows[0], "mean_nll").as_real());
  const Ran table = vitro(arguments);
  EXPECT_EQ(table.code, 0) << table.out;
  for (const char* part : {"bytes a token", "f32", "fp8", "+0.0000%", "6 scored of 7"})
    EXPECT_NE(table.out.find(part), std::string::npos) << table.out;
}

TEST(Eval, BosOnlyWhereTheTokenizerAddsOne) {
  const auto bos = [](const std::string& name, const std::string& piece, const std::string& options = "") {
    TempFolder folder;
    std::filesystem::copy(repo_path("tests/data/tokens/" + name + ".tokenizer.json"), folder.path() / "tokenizer.json");
    write_file(folder.path() / "tokenizer_config.json", "{\"bos_token\": " + json_quote(piece) + "}");
    const std::string arguments = "eval " + golden("llama-gqa") + " --ids 5,6,7 --json --tokenizer ";
    return *member(json_of(arguments + folder.path().string() + options), "bos_id").as_int();
  };
  EXPECT_EQ(bos("llama3-like", "<s>"), 320);  // its template puts <s> first
  EXPECT_EQ(bos("llama3-like", "<s>", " --no-bos"), -1);
  EXPECT_EQ(bos("gemma-like", "<s>"), -1);  // it has one, and adds none
}

TEST_F(BrokenModel, LossesBeyondNumbersAreNull) {
  rewrite_weights([](const std::string& name, Shape&, std::string& data) {
    for (size_t i = 0; name == "model.norm.weight" && i < data.size(); i += 2) data[i] = '\x00', data[i + 1] = '\x4b';
    return true;
  });
  const Value result = json_of("eval " + path() + " --ids 5,6,7 --json");
  EXPECT_GT(*member(result, "mean_nll").as_real(), 1000);
  EXPECT_TRUE(member(result, "perplexity").is_null());  // e to the thousands
}

TEST_F(BrokenModel, EndIdsThatAreNone) {
  for (const char* ids : {"4294967297", "[2, -4294967295]", "\"two\""}) {
    write_file(folder_.path() / "generation_config.json", std::string("{\"eos_token_id\": ") + ids + "}");
    const Ran ran = run();
    expect_refused(ran, "'eos_token_id'");
    expect_one_line(ran);
  }
  write_file(folder_.path() / "generation_config.json", "{\"eos_token_id\": null}");
  EXPECT_EQ(run().code, 0);
}

TEST(Show, CountsAsTheReferenceCounts) {
  const auto shown = [](const std::string& name, const std::string& count) {
    const int64_t reference = *member(load_json(golden(name) + "/expected.json"), "parameters").as_int();
    EXPECT_EQ(*member(json_of("show " + golden(name) + " --json"), "parameters").as_int(), reference);
    const Ran ran = vitro("show " + golden(name));
    EXPECT_EQ(ran.code, 0) << ran.out;
    EXPECT_NE(ran.out.find("parameters: " + count), std::string::npos) << ran.out;
  };
  shown("llama-gqa", "160,320");
  shown("plan/phi3-mini", "3,821,079,552");
}

TEST(Show, TensorsAndConfig) {
  const Value tensors = json_of("show " + golden("llama-gqa") + " --tensors --json");
  ASSERT_NE(tensors.as_array(), nullptr);
  EXPECT_EQ(tensors.as_array()->size(), 2u + 4u * 9u);  // embedding and norm; nine a block
  const Ran table = vitro("show " + golden("llama-gqa") + " --tensors");
  EXPECT_EQ(table.code, 0);
  EXPECT_NE(table.out.find("model.layers.3.self_attn.k_proj.weight"), std::string::npos) << table.out;
  const Ran config = vitro("show " + golden("llama-gqa") + " --config");
  EXPECT_EQ(config.code, 0);
  EXPECT_NE(config.out.find("num_key_value_heads"), std::string::npos) << config.out;
  EXPECT_EQ(*member(json_of("show " + golden("llama-gqa") + " --config --json"), "family").as_string(), "llama");
  EXPECT_EQ(vitro("show " + golden("llama-gqa") + " --config --tensors").code, 2);
}

TEST(Verify, PassesAGolden) {
  const Ran ran = vitro("verify " + golden("llama-gqa"));
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_NE(ran.out.find("1 of 1 folders agree"), std::string::npos) << ran.out;
  const Value row = json_of("verify " + golden("llama-gqa") + " --json");
  EXPECT_TRUE(*member(row, "passed").as_bool());
  EXPECT_LT(*member(row, "logits_error").as_real(), 1e-5);
  EXPECT_TRUE(member(row, "nll_error").is_null());  // not among this folder's numbers
}

// A golden whose expectation is changed in one place.
void change_expectation(const std::filesystem::path& folder, const std::string& old_text, const std::string& new_text) {
  std::ifstream in(golden("llama-gqa") + "/expected.json");
  std::stringstream buffer;
  buffer << in.rdbuf();
  std::string text = buffer.str();
  const size_t at = text.find(old_text);
  ASSERT_NE(at, std::string::npos);
  write_file(folder / "expected.json", text.replace(at, old_text.size(), new_text));
}

TEST(Verify, NoticesWhatIsWrong) {
  TempFolder folder;
  for (const auto& file : std::filesystem::directory_iterator(golden("llama-gqa")))
    std::filesystem::copy(file.path(), folder.path());
  std::filesystem::remove(folder.path() / "expected.json");
  change_expectation(folder.path(), "   322,", "   321,");  // the first greedy token
  const Ran ran = vitro("verify " + folder.path().string());
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_NE(ran.out.find("FAIL"), std::string::npos) << ran.out;
  EXPECT_FALSE(*member(json_of("verify " + folder.path().string() + " --json", 1), "passed").as_bool());
  change_expectation(folder.path(), "   68,", "   4294967364,");  // 2^32 + 68 is not 68
  const Ran wide = vitro("verify " + folder.path().string());
  EXPECT_EQ(wide.code, 1) << wide.out;
  EXPECT_NE(wide.out.find("inputs[0]"), std::string::npos) << wide.out;
}

TEST(Verify, ALoopOfLinksIsAnError) {
  TempFolder folder;
  for (const char* file : {"config.json", "model.safetensors", "expected.json", "expected.safetensors"})
    std::filesystem::copy(golden("llama-gqa") + "/" + file, folder.path());
  std::filesystem::create_symlink("rope.safetensors", folder.path() / "rope.safetensors");
  const Ran ran = vitro("verify " + folder.path().string());
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_NE(ran.out.find("rope.safetensors"), std::string::npos) << ran.out;
}

// A folder with two goldens, one that cannot be run, one that is none, and a twin.
class VerifyAll : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(models_);
    for (const char* name : {"llama-gqa", "mistral-sliding"})
      std::filesystem::copy(golden(name), models_ / name, std::filesystem::copy_options::recursive);
    std::filesystem::create_directory(models_ / "unknown");
    write_file(models_ / "unknown/config.json", R"({"model_type": "perceptron"})");
    write_file(models_ / "unknown/expected.json", "{}");
    for (const char* file : {"model.safetensors", "expected.safetensors"})
      write_file(models_ / "unknown" / file, safetensors_bytes("{}", ""));
    std::filesystem::create_directory(models_ / "empty");
    std::filesystem::create_directory(folder_.path() / "gguf");
    const GoldenTwin twin("mistral-sliding");
    std::filesystem::copy(twin.path(), folder_.path() / "gguf");
  }
  std::string all(const std::string& options = "") { return "verify --all " + models_.string() + " " + options; }
  // The rows of --json by name.
  std::map<std::string, Value> rows(const std::string& options, int code) {
    const Ran ran = shell(VITRO_BINARY " " + all(options) + " --json 2>/dev/null");
    EXPECT_EQ(ran.code, code);
    std::map<std::string, Value> out;
    std::stringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) {
      Value row = parse_json(line, "row").value();
      const std::string name = *member(row, "name").as_string();
      out.emplace(name, std::move(row));
    }
    return out;
  }

  TempFolder folder_;
  const std::filesystem::path models_ = folder_.path() / "models";
};

TEST_F(VerifyAll, ShowsATableAndASummary) {
  const Ran ran = vitro(all());
  EXPECT_EQ(ran.code, 0) << ran.out;
  for (const char* part :
       {"GQA 4:2, window 8", "RoPE halves", "pass; the twin cannot say attn.mask, attn.window",
        "not implemented: model_type = \"perceptron\" is not a model family that is implemented\n",
        "2 of 3 goldens agree with the reference, and 0 of their GGUF twins; 0 failed, 1 not implemented"}) {
    EXPECT_NE(ran.out.find(part), std::string::npos) << part << "\n" << ran.out;
  }
  EXPECT_NE(vitro(all("--threads 2 --page-size 8"), "VITRO_ISA=reference").out.find("(kernels reference, 2 threads)"),
            std::string::npos);
}

TEST_F(VerifyAll, GivesRowsAsJson) {
  const auto found = rows("", 0);
  ASSERT_EQ(found.size(), 3u);
  const Value& gqa = found.at("llama-gqa");
  EXPECT_EQ(*member(gqa, "verdict").as_string(), "pass");
  EXPECT_EQ(*member(gqa, "attention").as_string(), "GQA 4:2");
  EXPECT_EQ(*member(gqa, "positions").as_string(), "RoPE halves");
  EXPECT_NE(member(gqa, "differs").as_string()->find("frequencies"), std::string::npos);
  EXPECT_TRUE(member(gqa, "twin").is_null());
  const Value& twin = member(found.at("mistral-sliding"), "twin");
  EXPECT_FALSE(*member(twin, "passed").as_bool());
  EXPECT_EQ(to_string(member(twin, "cannot_say")), R"(["attn.mask","attn.window"])");
  EXPECT_EQ(*member(found.at("unknown"), "verdict").as_string(), "not implemented");
}

TEST_F(VerifyAll, AnyFailureIsOne) {
  // Another model's twin, which says so.
  const GoldenTwin foreign("llama-rope-linear");
  TempFolder twins;
  std::filesystem::copy(foreign.path(), twins.path() / "llama-gqa.gguf");
  const std::string option = "--twins " + twins.path().string();
  EXPECT_EQ(*member(rows(option, 1).at("llama-gqa"), "verdict").as_string(), "FAIL");
  EXPECT_NE(vitro(all(option)).out.find("\nllama-gqa.gguf: sets rope.scaling otherwise"), std::string::npos);
  std::filesystem::resize_file(models_ / "llama-gqa/model.safetensors", 1000);
  const Ran cut = vitro(all());
  EXPECT_EQ(cut.code, 1);
  EXPECT_NE(cut.out.find("1 failed"), std::string::npos) << cut.out;
}

TEST_F(VerifyAll, WrongUsage) {
  EXPECT_EQ(vitro("verify").code, 2);
  EXPECT_EQ(vitro(all(golden("gpt2"))).code, 2);
  EXPECT_EQ(vitro(all("--model x.gguf")).code, 2);
  EXPECT_EQ(vitro(all("--twins /no/such/folder")).code, 2);
  EXPECT_EQ(vitro("verify " + golden("gpt2") + " --twins " + golden("")).code, 2);
  expect_refused(vitro("verify --all " + (models_ / "empty").string()), "no folder in it");
  expect_refused(vitro("verify --all /no/such/folder"), "/no/such/folder");
}

// Lines of tests/data/tokens, written by tools/make_token_expectations.py with Hugging Face's tokenizers.
std::vector<Value> token_expectations(bool has_special) {
  std::ifstream in(repo_path("tests/data/tokens/llama3-like.jsonl"));
  std::vector<Value> out;
  for (std::string line; std::getline(in, line);) {
    Value value = parse_json(line, "line").value();
    if (*member(value, "add_special").as_bool() == has_special &&
        *member(value, "parse_special").as_bool() == has_special) {
      out.push_back(std::move(value));
    }
  }
  return out;
}

TEST(Tokenize, JsonLinesAreTheReferences) {
  const std::string command = "tokenize " + repo_path("tests/data/tokens/llama3-like.tokenizer.json").string();
  TempFolder folder;
  for (const bool has_special : {true, false}) {
    const std::vector<Value> expected = token_expectations(has_special);
    ASSERT_GT(expected.size(), 50u);
    std::string lines;
    for (const Value& value : expected) lines += json_quote(*member(value, "text").as_string()) + "\n";
    write_file(folder.path() / "lines", lines);
    const Ran ran =
        shell(VITRO_BINARY " " + command + " --jsonl " + (has_special ? "" : "--no-special --no-parse-special ") +
              "< " + (folder.path() / "lines").string());
    EXPECT_EQ(ran.code, 0);
    std::stringstream answers(ran.out);
    std::string answer;
    for (const Value& value : expected) {
      ASSERT_TRUE(std::getline(answers, answer));
      const Value got = parse_json(answer, "answer").value();
      EXPECT_EQ(to_string(member(got, "ids")), to_string(member(value, "ids")));
      EXPECT_EQ(to_string(member(got, "offsets")), to_string(member(value, "offsets")));
    }
    EXPECT_FALSE(std::getline(answers, answer));
  }
}

TEST(Tokenize, DecodesWithAndWithoutSpecialTokens) {
  const std::string command =
      "tokenize " + repo_path("tests/data/tokens/llama3-like.tokenizer.json").string() + " --json --ids ";
  for (const Value& value : token_expectations(true)) {
    std::string ids = to_string(member(value, "ids"), 100000);
    if (ids.size() > 60) continue;  // a process each: the short ones do
    ids = ids.substr(1, ids.size() - 2);
    EXPECT_EQ(*member(json_of(command + ids), "text").as_string(), *member(value, "decoded_special").as_string());
    EXPECT_EQ(*member(json_of(command + ids + " --skip-special"), "text").as_string(),
              *member(value, "decoded").as_string());
  }
  EXPECT_EQ(vitro(command + "1 --jsonl").code, 2);
  EXPECT_EQ(vitro(command + "99999").code, 2);
}

TEST(Tokenize, ABadLineIsAnsweredAndTheRestGoesOn) {
  const std::string command = "tokenize " + repo_path("tests/data/tokens/llama3-like.tokenizer.json").string();
  const Ran ran = shell("printf '%s\\n' '{' '[1]' '\"The\"' | " VITRO_BINARY " " + command + " --jsonl");
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 3) << ran.out;
  EXPECT_NE(ran.out.find("{\"ids\":[320,51,256]"), std::string::npos) << ran.out;
  expect_refused(vitro(command + " --jsonl --file " + repo_path("tests").string()), "a folder?");
}

TEST(TokenizerTrain, WritesWhatTokenizeReads) {
  const TempFolder folder;
  const std::string file = (folder.path() / "tokenizer.json").string();
  const std::string train = "tokenizer train " + repo_path("tests/data/real/text.txt").string() +
                            " --vocab-size 300 --special '<|end|>' --special '<|pad|>' --output " + file;
  const Value report = json_of(train + " --json");
  EXPECT_EQ(*member(report, "pieces").as_int(), 300);
  EXPECT_EQ(*member(report, "merges").as_int(), 300 - 256 - 2);
  const Value encoded = json_of("tokenize " + file + " 'a<|pad|>' --json");
  EXPECT_EQ(to_string(member(encoded, "ids")), "[66,1]");  // two special tokens, then the bytes from "!" on

  const Ran again = vitro(train);
  expect_refused(again, "exists already; --force replaces it");
  EXPECT_EQ(vitro(train + " --force").code, 0);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(TokenizerTrain, WrongUsageIsTwo) {
  const std::string text = repo_path("tests/data/real/text.txt").string();
  for (const std::string& arguments :
       {std::string(), std::string(" trian"), " train " + text, " train " + text + " --output x --model word",
        " train " + text + " --output x --model unigram --pattern gpt2",
        " train " + text + " --output x --pattern '(a'", " train " + text + " --output x --normalizer nfq",
        " train " + text + " --output x --vocab-size 0"}) {
    const Ran ran = vitro("tokenizer" + arguments);
    EXPECT_EQ(ran.code, 2) << arguments << ran.out;
    EXPECT_TRUE(ran.out.starts_with("vitro tokenizer") || ran.out.starts_with("usage:")) << ran.out;
  }
  const TempFolder folder;
  const std::string output = " --output " + (folder.path() / "x").string();
  expect_refused(vitro("tokenizer train /no/such/file" + output), "/no/such/file");
  expect_refused(vitro("tokenizer train " + text + " --output /no/such/folder/x"), "there is no folder");
}

TEST(Bench, SaysWhatItCanMeasure) {
  EXPECT_EQ(vitro("bench").code, 2);
  EXPECT_EQ(vitro("bench --help").code, 0);
  EXPECT_NE(vitro("bench --help").out.find("machine"), std::string::npos);
  const Ran unknown = vitro("bench machin");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.out.find("did you mean 'machine'"), std::string::npos) << unknown.out;
  EXPECT_EQ(vitro("bench machine --thread 2").code, 2);
  expect_refused(vitro("bench machine --threads 0"), "expected 1 to 1024");
}

TEST(Demo, ShowsParisAndTheSameText) {
  if (!cached_model("smollm2-135m-instruct-q4_1.gguf"))
    GTEST_SKIP() << "smollm2-135m-instruct-q4_1.gguf is not there; 'vitro pull' brings it";
  const Ran ran = vitro("demo");
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_NE(ran.out.find("Paris"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("  the same text"), std::string::npos) << ran.out;
  EXPECT_EQ(shell(VITRO_BINARY " demo >/dev/full 2>/dev/null").code, 1);
}

}  // namespace
}  // namespace vitro::testing
