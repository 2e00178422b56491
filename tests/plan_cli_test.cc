// `vitro plan` as an operator meets it: the documents' figures, every committed configuration, JSON by its schema,
// pictures.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "testing/json_schema.h"
#include "testing/plan_runs.h"
#include "testing/shared_data.h"
#include "testing/temp_folder.h"

namespace vitro::testing {
namespace {

// ---- figures of the documents ----

TEST(PlanCli, ParametersByComponent) {
  const Value plan = json_plan(kLlama7B);
  EXPECT_EQ(amount(plan, "parameters"), 6'738'415'616);
  EXPECT_EQ(amount(plan, "parameters", "attention"), 32LL * 4 * 4096 * 4096);
  EXPECT_EQ(amount(plan, "parameters", "feed-forward"), 32LL * 3 * 4096 * 11008);
  EXPECT_EQ(amount(plan, "parameters", "embedding and head/embedding"), 131'072'000);
  EXPECT_EQ(amount(plan, "parameters", "embedding and head/head"), 131'072'000);
  EXPECT_EQ(amount(plan, "parameters", "norms"), 266'240);
  const Ran explained = run_plan(kLlama7B + "--explain");
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

// 4096 positions of 128 heads of 192 + 128 in 61 layers, or 512 + 64 a layer: 16 bits each.
TEST(PlanCli, LatentCacheExpanded) {
  const std::string model = "tests/golden/plan/deepseek-v3 --engine gpu --context 4096 --mla ";
  EXPECT_EQ(amount(json_plan(model + "latent"), "memory", "cache"), 2LL * 61 * 4096 * 576);
  EXPECT_EQ(amount(json_plan(model + "expanded"), "memory", "cache"), 2LL * 61 * 4096 * 128 * 320);
}

// Expanded, each of eight devices has 16 of 128 heads; a latent vector is on every one.
TEST(PlanCli, AnExpandedLatentCacheIsDividedByHeads) {
  const std::string run = "tests/golden/plan/deepseek-v3 --gpu h200 --count 8 --weights fp8 --mla ";
  const Value latent = json_plan(run + "latent"), expanded = json_plan(run + "expanded");
  EXPECT_EQ(amount(latent, "device_memory", "cache"), amount(latent, "memory", "cache"));
  EXPECT_EQ(8 * amount(expanded, "device_memory", "cache"), amount(expanded, "memory", "cache"));
}

TEST(PlanCli, EncodersMakeNoTokens) {
  const Value plan = json_plan("tests/golden/plan/bert-base --gpu a100-80g");
  EXPECT_TRUE(at(plan, {"sections", "decode"}).is_null());
  EXPECT_GT(cell(plan, "work", "part", "in all", "prefill_seconds"), 0);
  EXPECT_TRUE(cell_value(plan, "work", "part", "in all", "decode_flops").is_null());
  EXPECT_EQ(run_plan("tests/golden/plan/bert-base --gpu a100-80g").out.find("tokens/s"), std::string::npos);
}

TEST(PlanCli, ASourceOfItsOwnLengthStays) {
  const auto longest = [](const std::string& source) {
    return cell(json_plan("tests/golden/plan/t5-base --engine gpu --fit 2GiB --source " + source), "fits", "question",
                "the same, weights and cache alone", "answer");
  };
  // A position of the text and one of the source cost the same: 12 layers of 2 x 768.
  EXPECT_EQ(longest("1000") - longest("1256"), 256);
}

TEST(PlanCli, BestWeightsThatFit) {
  const auto best = [](const std::string& budget) {
    return cell_value(json_plan(kLlama7B + "--engine gpu --context 4096 --fit " + budget), "fits", "question",
                      "best weights, 1 user of 4,096", "answer");
  };
  // 6.476e9 elements in the layers, 0.262e9 in 16 bits, 2.15 GB of cache, 0.12 GB of activations.
  EXPECT_EQ(*best("40GB").as_string(), "f32");
  EXPECT_EQ(*best("16GB").as_string(), "bf16");
  EXPECT_EQ(*best("15.5GB").as_string(), "q8_0");
  EXPECT_EQ(*best("7GB").as_string(), "q4_k");
  EXPECT_TRUE(best("4GB").is_null());
}

TEST(PlanCli, FitsAreAsCertainAsTheirPlan) {
  const Value plan = json_plan(kLlama7B + "--engine gpu --fit 24GB");
  EXPECT_EQ(*at(plan, {"tables", "fits", "certainty"}).as_string(), "estimated");
  EXPECT_EQ(*at(plan, {"tables", "weight_formats", "certainty"}).as_string(), "estimated");
}

// A100: 19.5 TFLOP/s in float32, 312 in bfloat16 (data sheet); the widest of 156 in TF32.
TEST(PlanCli, TrainingComputesInTheTypeOfItsRecipe) {
  const std::string run = kLlama7B + "--train --context 2048 --gpu a100-80g --recipe ";
  const Value f32 = json_plan(run + "adamw-f32"), bf16 = json_plan(run + "adamw-bf16");
  EXPECT_EQ(run_plan(run + "adamw-f32").out.find("312.0 TFLOP/s"), std::string::npos);
  EXPECT_NE(run_plan(run + "adamw-bf16").out.find("312.0 TFLOP/s"), std::string::npos);
  EXPECT_GT(amount(f32, "activations"), 1.9 * static_cast<double>(amount(bf16, "activations")));
}

// DeepSpeed gathers tensor by tensor (the embedding is the largest), FSDP block by block; two of them at once.
TEST(PlanCli, ZeroGathersBlocksOrTensors) {
  const std::string run = kLlama7B + "--train --context 128 --dp 8 --zero 3 --gather ";
  const auto weights = [&](const std::string& unit) {
    return amount(json_plan(run + unit), "memory", "gathered/weights");
  };
  EXPECT_EQ(weights("tensor"), 2 * 2 * 131'072'000);
  EXPECT_EQ(weights("block"), 2 * 2 * 202'383'360);
  for (const char* layout : {"--dp 8 --zero 2", "--zero 3"}) {
    const Ran ran = run_plan(kLlama7B + "--train --gather tensor " + layout);
    EXPECT_EQ(ran.code, 1) << ran.out;
    EXPECT_NE(ran.out.find("--gather tensor: with --zero"), std::string::npos) << ran.out;
  }
}

// Everything in float32: logits and their gradient, 8 B, where 16 bits have four buffers of 12 B together.
TEST(PlanCli, LossOfAFloat32RunConvertsNothing) {
  const auto loss_phase = [](const std::string& options) {
    return cell(json_plan(kLlama7B + "--train --context 128 " + options), "phases", "phase", "loss", "bytes");
  };
  const auto beyond_4 = [&](const std::string& recipe) {
    return (loss_phase("--recipe " + recipe) - loss_phase("--loss in-place-f32 --recipe " + recipe)) / (128 * 32'000);
  };
  EXPECT_EQ(beyond_4("adamw-f32"), 8 - 4);
  EXPECT_EQ(beyond_4("adamw-bf16"), 12 - 4);
}

TEST(PlanCli, FusedTrainingKeepsLess) {
  const std::string run = kLlama7B + "--train --context 2048 ";
  const auto kept = [](const Value& plan) { return amount(plan, "activations"); };
  EXPECT_EQ(kept(json_plan(run)) - kept(json_plan(run + "--recompute-product")), 2LL * 32 * 2048 * 11008);
}

// 295.4 FLOPs a byte on an H100 (989.5e12 x 2 / (2 x 3.35e12)), and 8 (1 - 0.75^8) = 7.2 of Mixtral's experts.
TEST(PlanCli, CrossoversAndExpertsAreTold) {
  const std::string gpu = " --gpu h100-80g --context 2048";
  EXPECT_EQ(*at(json_plan(kLlama7B + gpu), {"figures", "crossover_users"}).as_int(), 296);
  EXPECT_NE(run_plan(kLlama7B + gpu).out.find("From 296 users on"), std::string::npos);
  const std::string mixtral = "tests/golden/plan/mixtral-8x7b --context 2048";
  EXPECT_NE(run_plan(mixtral).out.find("2, 7.2, 8.0 of 8"), std::string::npos);
  EXPECT_NEAR(*at(json_plan(mixtral), {"figures", "experts_of_8"}).as_real(), 8 * (1 - 0.1001129150390625), 1e-9);
}

// Options that JSON repeats, so that an answer says what it answers.
TEST(PlanCli, JsonRepeatsTheQuestion) {
  const Value plan = json_plan(kLlama7B +
                               "--weights q4_k --embeddings q8_0 --fit 8GiB --compare-weights q8_0,f32 --naive "
                               "--users 3 --chunk 64");
  EXPECT_EQ(to_string(at(plan, {"question", "embeddings"})), "\"q8_0\"");
  EXPECT_EQ(to_string(at(plan, {"question", "compare_weights"})), "[\"q8_0\",\"f32\"]");
  EXPECT_EQ(to_string(at(plan, {"question", "naive"})), "true");
  EXPECT_EQ(*at(plan, {"question", "rows_of_a_pass"}).as_int(), 64);
  const Value train = json_plan(kLlama7B + "--train --lora 8 --lora-targets q,up");
  EXPECT_EQ(*at(train, {"question", "lora_targets"}).as_string(), "q,up");
  EXPECT_EQ(*at(train, {"question", "gather"}).as_string(), "block");
  EXPECT_TRUE(at(train, {"question", "sizes"}).is_null());
  const std::string sizes = "--arch llama --d-model 64 --n-layer 2 --n-kv-head 1 --tied true ";
  for (const char* form : {"", "--train"}) {
    EXPECT_EQ(to_string(at(json_plan(sizes + form), {"question", "sizes"})),
              R"({"d_model":64,"n_layer":2,"n_kv_head":1,"tied":true})");
  }
}

// ---- figures that no sheet gives ----

// Apple publishes no peaks (data/devices.json): memory and fits, no times, and which figure is missing.
TEST(PlanCli, ADeviceWithoutAPeakAnswersWhatFits) {
  const std::string run = kLlama7B + "--gpu m2-ultra --context 4096 ";
  const Value plan = json_plan(run);
  EXPECT_EQ(*at(plan, {"sections", "memory", "budget"}).as_int(), int64_t{192} << 30);
  EXPECT_GT(cell(plan, "fits", "question", "most users, contexts of 4,096", "answer"), 50);
  EXPECT_GT(cell(plan, "weight_formats", "weights", "int4", "users"), 50);
  EXPECT_TRUE(cell_value(plan, "weight_formats", "weights", "bf16", "tokens_per_second").is_null());
  EXPECT_TRUE(cell_value(plan, "work", "part", "in all", "prefill_seconds").is_null());
  const std::string missing = "No times: m2-ultra-192g: no figure for its peak in any type.";
  EXPECT_EQ(*at(plan, {"notes"}).as_array()->back().as_string(), missing);
  for (const char* form : {"", "--explain", "--train", "--compare tests/golden/plan/llama3-8b", "--users 8"}) {
    const Ran ran = run_plan(run + form);
    EXPECT_EQ(ran.code, 0) << ran.out;
    EXPECT_NE(ran.out.find(missing), std::string::npos) << ran.out;
    EXPECT_EQ(ran.out.find("tokens/s"), std::string::npos) << ran.out;
  }
  TempFolder folder;
  const std::filesystem::path svg = folder.path() / "p.svg";
  ASSERT_EQ(run_plan(run + "--svg " + svg.string()).code, 0);
  std::ifstream in(svg);
  const std::string drawn(std::istreambuf_iterator<char>(in), {});
  EXPECT_NE(drawn.find(missing), std::string::npos);
  EXPECT_EQ(drawn.find("Roofline"), std::string::npos);
}

// The RTX A6000's bridge joins two (data sheet): four of them hold four shares, and nothing says how fast.
TEST(PlanCli, DevicesThatNoLinkJoinsAnswerWhatFits) {
  const std::string run = kLlama7B + "--gpu a6000 --count ";
  EXPECT_GT(cell(json_plan(run + "2"), "work", "part", "in all", "prefill_seconds"), 0);
  const Value four = json_plan(run + "4");
  EXPECT_TRUE(cell_value(four, "work", "part", "in all", "prefill_seconds").is_null());
  EXPECT_EQ(amount(four, "device_memory", "weights"), amount(four, "memory", "weights") / 4);
  EXPECT_NE(run_plan(run + "4").out.find("joins 2 devices, not 4"), std::string::npos);
}

// A100 (data sheet): 312 TFLOP/s in bfloat16 and float16, none in FP8; INT4 is there, but engines widen such weights.
TEST(PlanCli, TypesWithoutAPeakOfTheirOwnAreWidened) {
  const std::string run = kLlama7B + "--gpu a100-80g --context 512 --weights ";
  const auto seconds = [&](const std::string& type) {
    return cell(json_plan(run + type), "work", "part", "feed-forward", "prefill_seconds");
  };
  EXPECT_GT(seconds("bf16"), 0);
  EXPECT_EQ(seconds("int4"), seconds("bf16"));
  EXPECT_EQ(seconds("fp8"), seconds("bf16"));
  EXPECT_LT(seconds("int8"), seconds("bf16"));
  for (const char* type : {"int4", "fp8", "q4_k"})
    EXPECT_NE(run_plan(run + type).out.find("312.0 TFLOP/s bf16"), std::string::npos) << type;
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
    if (cache) {
      EXPECT_EQ(*planned, *cache) << path;
    }
  }
}

#ifdef NDEBUG
double seconds_of(const std::string& arguments) {
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  rusage before{}, after{};
  ::getrusage(RUSAGE_CHILDREN, &before);
  EXPECT_EQ(run_plan(arguments).code, 0) << arguments;
  ::getrusage(RUSAGE_CHILDREN, &after);
  return seconds(after.ru_utime) - seconds(before.ru_utime);
}

TEST(PlanCli, TakesLittleTime) {
  for (const auto& path : configurations()) {
    double least = 1;
    for (int i = 0; i < 5 && least >= 0.05; ++i)
      least = std::min(least, seconds_of(path.string() + " --gpu h200 --weights fp8"));
    EXPECT_LT(least, 0.05) << path;
  }
}

TEST(PlanCli, TenThousandLayersTakeLittleTime) {
  Value::Object config;
  const Value small = load_json(repo_path("tests/golden/plan/gemma3-1b/config.json"));
  for (const auto& [key, value] : *small.as_object()) {
    if (key != "num_hidden_layers" && key != "layer_types") config.emplace_back(key, value);
  }
  Value::Array types;
  for (int i = 0; i < 10'000; ++i) types.emplace_back(std::string(i % 2 ? "sliding_attention" : "full_attention"));
  config.emplace_back("num_hidden_layers", Value(int64_t{10'000}));
  config.emplace_back("layer_types", Value(std::move(types)));
  TempFolder folder;
  std::ofstream(folder.path() / "config.json") << to_string(Value(std::move(config)), size_t{1} << 22);
  EXPECT_LT(seconds_of(folder.path().string()), 0.9);
  EXPECT_LT(seconds_of(folder.path().string() + " --gpu h100-80g"), 0.9);
}
#endif

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
      kLlama7B + "--gpu m2-ultra --context 32k",
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
  if (!parts.empty()) {
    EXPECT_EQ(sum, *at(item, {"amount"}).as_int()) << to_string(at(item, {"name"}));
  }
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

size_t n_lines_of(const std::string& arguments) {
  const Ran ran = run_plan(arguments);
  EXPECT_EQ(ran.code, 0) << ran.out;
  std::stringstream lines(ran.out);
  size_t n_lines = 0;
  for (std::string line; std::getline(lines, line); ++n_lines) EXPECT_LE(columns_of(line), 80u) << arguments << line;
  return n_lines;
}

TEST(PlanCli, AnswersFitOneScreen) {
  for (const std::string& arguments : kinds_of_plans()) n_lines_of(arguments);
  EXPECT_LE(n_lines_of(kLlama7B + "--context 4096 --engine gpu"), 44u);
  EXPECT_LE(n_lines_of("tests/golden/plan/llama2-70b --context 4096 --engine gpu"), 44u);
  EXPECT_LE(n_lines_of("tests/golden/plan/llama3-70b --gpu h100-80g --count 8 --context 32k"), 44u);
  EXPECT_LE(n_lines_of(kLlama7B + "--train --context 2048"), 44u);
  EXPECT_LE(n_lines_of("tests/golden/plan/llama2-70b --train --gpu h100-80g --dp 8 --tp 8 --zero 1 --tokens 2T"), 46u);
}

TEST(PlanCli, ComparesOwnerByOwner) {
  const Value plan = json_plan("--compare tests/golden/plan/llama-7b tests/golden/plan/llama3-8b");
  EXPECT_EQ(cell(plan, "parameters", "owner", "attention/k", "amount_1"), 536'870'912);
  EXPECT_EQ(cell(plan, "parameters", "owner", "attention/k", "amount_2"), 134'217'728);
  EXPECT_EQ(cell(plan, "parameters", "owner", "attention/k", "difference"), 134'217'728 - 536'870'912);
  EXPECT_EQ(cell(plan, "parameters", "owner", "", "amount_2"), 8'030'261'248);
  const Value timed =
      json_plan("--compare tests/golden/plan/llama-7b tests/golden/plan/llama3-8b --gpu h100-80g --context 2048");
  const Value alone = json_plan("tests/golden/plan/llama3-8b --gpu h100-80g --context 2048");
  EXPECT_EQ(cell(timed, "prefill_seconds", "question", "in all", "answer_2"),
            cell(alone, "work", "part", "in all", "prefill_seconds"));
  EXPECT_EQ(cell(timed, "answer", "question", "longest context, 1 user", "answer_2"),
            cell(alone, "fits", "question", "longest context, 1 user", "answer"));
}

TEST(PlanCli, PicturesShowAndObeyNothing) {
  TempFolder folder;
  const auto model = folder.path() / "a<b>&\"c";
  std::filesystem::create_directory(model);
  std::filesystem::copy(repo_path("tests/golden/plan/llama-7b/config.json"), model / "config.json");
  const std::string svg = (folder.path() / "p.svg").string();
  const std::string arguments = "'" + model.string() + "' --gpu h100-80g --svg " + svg;
  ASSERT_EQ(run_plan(arguments).code, 0);
  std::ifstream in(svg);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  EXPECT_TRUE(text.starts_with("<svg xmlns")) << text.substr(0, 80);
  EXPECT_NE(text.find("a&lt;b&gt;&amp;&quot;c"), std::string::npos);
  EXPECT_EQ(text.find("a<b>"), std::string::npos);
  EXPECT_EQ(text.find("<script"), std::string::npos);
  for (const char* what : {"prefers-color-scheme: dark", "weights 13.48 GB", "Roofline of", "FLOPs a byte", "free "}) {
    EXPECT_NE(text.find(what), std::string::npos) << what;
  }
  const Ran again = run_plan(arguments);
  EXPECT_EQ(again.code, 1) << again.out;
  EXPECT_EQ(run_plan(arguments + " --force").code, 0);
}

TEST(PlanCli, FilesKeepTheirOwnTypes) {
  const Value file = json_plan("tests/golden/llama-gqa --engine gpu");
  const Value widened = json_plan("tests/golden/llama-gqa --engine gpu --weights f32");
  EXPECT_EQ(amount(widened, "memory", "weights"), 4 * amount(widened, "parameters"));
  EXPECT_EQ(amount(file, "parameters"), amount(widened, "parameters"));
}

}  // namespace
}  // namespace vitro::testing
