// Parameters by component against what the reference counts by its own names (goldens/plan), for every real
// configuration.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "formats/json.h"
#include "plan/plan_test_util.h"
#include "testing/shared_data.h"

namespace vitro {
namespace {

using Components = std::set<Component>;

struct Part {
  const char* text;  ///< the first of the list that a foreign name holds decides
  Components components;
};

// Tensors that hold several (q, k and v in one) belong to all of them.
const Components kQkv = {Component::kQ, Component::kK, Component::kV};
const Part kParts[] = {
    {"norm", {Component::kNorms}},
    {"Norm", {Component::kNorms}},
    {".ln_", {Component::kNorms}},
    {"relative_attention_bias", {Component::kPositions}},
    {"position", {Component::kPositions}},
    {"token_type", {Component::kPositions}},
    {"wpe", {Component::kPositions}},
    {"EncDecAttention", {Component::kCross}},
    {"encoder_attn", {Component::kCross}},
    {"shared_expert", {Component::kShared}},
    {"mlp.gate.", {Component::kRouter}},
    {"router", {Component::kRouter}},
    {"experts", {Component::kExperts}},
    {"q_a_proj", {Component::kLatent}},
    {"q_b_proj", {Component::kLatent}},
    {"kv_a_proj", {Component::kLatent}},
    {"kv_b_proj", {Component::kLatent}},
    {"sinks", {Component::kSinks}},
    {"c_attn", kQkv},
    {"query_key_value", kQkv},
    {"qkv_proj", kQkv},
    {"q_proj", {Component::kQ}},
    {"query.", {Component::kQ}},
    {"Attention.q.", {Component::kQ}},
    {"k_proj", {Component::kK}},
    {"key.", {Component::kK}},
    {"Attention.k.", {Component::kK}},
    {"v_proj", {Component::kV}},
    {"value.", {Component::kV}},
    {"Attention.v.", {Component::kV}},
    {"o_proj", {Component::kO}},
    {"out_proj", {Component::kO}},
    {"Attention.o.", {Component::kO}},
    {"attn.c_proj", {Component::kO}},
    {"attention.dense", {Component::kO}},
    {"self_attn.dense", {Component::kO}},
    {"attention.output.dense", {Component::kO}},
    {"pooler", {Component::kPooler}},
    {"lm_head", {Component::kHead}},
    {"embed_out", {Component::kHead}},
    {"embed", {Component::kEmbedding}},
    {"wte", {Component::kEmbedding}},
    {"shared.weight", {Component::kEmbedding}},
    {"mlp", {Component::kFfn}},
    {".fc", {Component::kFfn}},
    {"DenseReluDense", {Component::kFfn}},
    {"intermediate.dense", {Component::kFfn}},
    {"output.dense", {Component::kFfn}},
};

Components components_of(const std::string& foreign) {
  for (const Part& part : kParts) {
    if (foreign.find(part.text) != std::string::npos) return part.components;
  }
  ADD_FAILURE() << foreign << " is not in the table";
  return {};
}

Value read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return parse_json(text.str(), path.string()).value();
}

void check_components(const std::filesystem::path& folder) {
  const Checkpoint checkpoint = Checkpoint::open(folder / "config.json", {.needs_weights = false}).value();
  const ModelDescription description = describe_model(checkpoint).value();
  const auto slots = description.arch->tensor_slots(checkpoint.format(), description.config);
  const WeightsPlan plan = plan_weights(description.config, slots, {});
  const Value expected = read_json(folder / "expected.json");
  EXPECT_EQ(plan.total().n_parameters, *expected.find("parameters")->as_int());

  std::map<Components, int64_t> theirs;
  for (const Value::Member& tensor : *expected.find("by_name")->as_object()) {
    theirs[components_of(tensor.first)] += *tensor.second.find("parameters")->as_int();
  }
  Components seen;
  for (const auto& [components, n] : theirs) {
    int64_t ours = 0;
    for (const Component component : components) ours += plan[component].n_parameters;
    EXPECT_EQ(ours, n) << component_name(*components.begin());
    for (const Component component : components) EXPECT_TRUE(seen.insert(component).second);
  }
  for (int i = 0; i < kNComponents; ++i) {
    const auto component = static_cast<Component>(i);
    EXPECT_TRUE(seen.contains(component) || plan[component].n_parameters == 0) << component_name(component);
  }
}

int check_all(const std::filesystem::path& plans) {
  int n = 0;
  for (const auto& entry : std::filesystem::directory_iterator(plans)) {
    SCOPED_TRACE(entry.path().filename().string());
    check_components(entry.path());
    ++n;
  }
  return n;
}

TEST(PlanGoldens, EveryCommittedConfigurationByComponent) {
  EXPECT_EQ(check_all(testing::repo_path("tests/golden/plan")), 43);
}

TEST(PlanGoldens, EverySharedConfigurationByComponent) {
  const auto plans = testing::shared_path("goldens/plan");
  if (!plans) GTEST_SKIP() << "the shared goldens are not there";
  EXPECT_GE(check_all(*plans), 43);
}

// Active parameters as published: DeepSeek-V3 37.55 billion (its routers and both embeddings counted, research on
// planning B6.1), Mixtral-8x7B 12.88 billion.
TEST(PlanGoldens, ActiveParameters) {
  EXPECT_EQ(testing::planned_model("deepseek-v3").weights().total().n_active, 37'552'282'624);
  EXPECT_EQ(testing::planned_model("mixtral-8x7b").weights().total().n_active, 12'879'925'248);
}

}  // namespace
}  // namespace vitro
