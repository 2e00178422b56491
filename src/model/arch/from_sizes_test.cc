// Models from a few sizes come to the published numbers of parameters (research on training and planning, B6.1), and
// every mistake is named by its option.
#include "model/arch/from_sizes.h"

#include <gtest/gtest.h>

#include "model/module_tree.h"
#include "testing/expect_error.h"

namespace vitro {
namespace {

struct Sized {
  const char* name;
  const char* family;
  ModelSizes sizes;
  int64_t n_parameters;
};

// clang-format off
const Sized kSized[] = {
    {"GPT-2", "gpt2", {.d_model = 768, .n_layer = 12, .n_ctx = 1024}, 124'439'808},
    {"GPT-2 medium", "gpt2", {.d_model = 1024, .n_layer = 24, .n_ctx = 1024}, 354'823'168},
    {"GPT-2 large", "gpt2", {.d_model = 1280, .n_layer = 36, .n_ctx = 1024}, 774'030'080},
    {"GPT-2 XL", "gpt2", {.d_model = 1600, .n_layer = 48, .n_ctx = 1024}, 1'557'611'200},
    {"GPT-2 padded", "gpt2", {.d_model = 768, .n_layer = 12, .vocab_size = 50304, .n_ctx = 1024}, 124'475'904},
    {"DistilGPT-2", "gpt2", {.d_model = 768, .n_layer = 6, .n_ctx = 1024}, 81'912'576},
    {"Llama-7B", "llama", {.d_model = 4096, .n_layer = 32}, 6'738'415'616},
    {"Llama-13B", "llama", {.d_model = 5120, .n_layer = 40}, 13'015'864'320},
    {"Llama-33B", "llama", {.d_model = 6656, .n_layer = 60}, 32'528'943'616},
    {"Llama-65B", "llama", {.d_model = 8192, .n_layer = 80}, 65'285'660'672},
    {"Llama-2-70B", "llama", {.d_model = 8192, .n_layer = 80, .n_kv_head = 8, .d_ff = 28672}, 68'976'648'192},
    {"TinyLlama", "llama", {.d_model = 2048, .n_layer = 22, .n_head = 32, .n_kv_head = 4}, 1'100'048'384},
    {"Llama-3-8B", "llama", {.d_model = 4096, .n_layer = 32, .n_kv_head = 8, .d_ff = 14336, .vocab_size = 128256}, 8'030'261'248},
    {"Llama-3-70B", "llama", {.d_model = 8192, .n_layer = 80, .n_kv_head = 8, .d_ff = 28672, .vocab_size = 128256}, 70'553'706'496},
    {"Llama-3.1-405B", "llama", {.d_model = 16384, .n_layer = 126, .n_kv_head = 8, .d_ff = 53248, .vocab_size = 128256}, 405'853'388'800},
    {"Llama-3.2-1B", "llama", {.d_model = 2048, .n_layer = 16, .n_head = 32, .n_kv_head = 8, .d_ff = 8192, .vocab_size = 128256, .is_tied = true}, 1'235'814'400},
    {"Llama-3.2-3B", "llama", {.d_model = 3072, .n_layer = 28, .n_kv_head = 8, .d_ff = 8192, .vocab_size = 128256, .is_tied = true}, 3'212'749'824},
    {"SmolLM2-1.7B", "llama", {.d_model = 2048, .n_layer = 24, .n_head = 32, .d_ff = 8192, .vocab_size = 49152, .is_tied = true}, 1'711'376'384},
    {"Mistral-7B", "mistral", {.d_model = 4096, .n_layer = 32}, 7'241'732'096},
    {"Mistral-7B v0.3", "mistral", {.d_model = 4096, .n_layer = 32, .vocab_size = 32768}, 7'248'023'552},
    {"Mixtral-8x7B", "mixtral", {.d_model = 4096, .n_layer = 32, .n_expert = 8, .n_expert_used = 2}, 46'702'792'704},
    {"Mixtral-8x22B", "mixtral", {.d_model = 6144, .n_layer = 56, .vocab_size = 32768, .n_expert = 8, .n_expert_used = 2, .d_ff_expert = 16384}, 140'630'071'296},
    {"Phi-3-mini", "phi3", {.d_model = 3072, .n_layer = 32}, 3'821'079'552},
    {"Phi-2", "phi", {.d_model = 2560, .n_layer = 32, .n_head = 32}, 2'779'683'840},
    {"Qwen2.5-1.5B", "qwen2", {.d_model = 1536, .n_layer = 28, .n_kv_head = 2, .d_ff = 8960, .is_tied = true}, 1'543'714'304},
    {"Qwen2.5-7B", "qwen2", {.d_model = 3584, .n_layer = 28, .n_kv_head = 4, .d_ff = 18944, .vocab_size = 152064}, 7'615'616'512},
    {"Qwen2.5-72B", "qwen2", {.d_model = 8192, .n_layer = 80, .n_kv_head = 8, .d_ff = 29568, .vocab_size = 152064}, 72'706'203'648},
    {"Qwen3-0.6B, the head stored", "qwen3", {.d_model = 1024, .n_layer = 28, .n_head = 16, .n_kv_head = 8, .d_head = 128}, 751'632'384},
    {"Qwen3-8B", "qwen3", {.d_model = 4096, .n_layer = 36, .n_kv_head = 8}, 8'190'735'360},
    {"Qwen3-30B-A3B", "qwen3moe", {.d_model = 2048, .n_layer = 48}, 30'532'122'624},
    {"Qwen3-235B-A22B", "qwen3_moe", {.d_model = 4096, .n_layer = 94, .d_ff_expert = 1536}, 235'093'634'560},
    {"Gemma-2B", "gemma", {.d_model = 2048, .n_layer = 18, .n_kv_head = 1}, 2'506'172'416},
    {"Gemma-7B", "gemma", {.d_model = 3072, .n_layer = 28, .n_head = 16, .n_kv_head = 16}, 8'537'680'896},
    {"Gemma-2 2B", "gemma2", {.d_model = 2304, .n_layer = 26, .n_head = 8}, 2'614'341'888},
    {"Gemma-2 27B", "gemma2", {.d_model = 4608, .n_layer = 46, .n_head = 32, .n_kv_head = 16, .d_head = 128, .d_ff = 36864}, 27'227'128'320},
    {"gpt-oss-20b", "gpt-oss", {.d_model = 2880, .n_layer = 24, .n_expert = 32}, 20'914'757'184},
    {"gpt-oss-120b", "gpt-oss", {.d_model = 2880, .n_layer = 36}, 116'829'156'672},
    {"DeepSeek-V3", "deepseek3", {.d_model = 7168, .n_layer = 61}, 671'026'404'352},
    {"BERT base", "bert", {.d_model = 768, .n_layer = 12}, 109'482'240},
    {"BERT large", "bert", {.d_model = 1024, .n_layer = 24}, 335'141'888},
    {"T5 small", "t5", {.d_model = 512, .n_layer = 6}, 60'506'624},
    {"T5 base", "t5", {.d_model = 768, .n_layer = 12}, 222'903'552},
    {"T5 large", "t5", {.d_model = 1024, .n_layer = 24}, 737'668'096},
    {"BART base", "bart", {.d_model = 768, .n_layer = 6}, 139'420'416},
    {"BART large", "bart", {.d_model = 1024, .n_layer = 12}, 406'291'456},
    {"BLOOM 560m", "bloom", {.d_model = 1024, .n_layer = 24, .n_head = 16}, 559'214'592},
    {"BLOOM 7b1", "bloom", {.d_model = 4096, .n_layer = 30}, 7'069'016'064},
    {"GPT-NeoX-20B", "gpt_neox", {.d_model = 6144, .n_layer = 44}, 20'554'567'680},
    {"Pythia 70m", "gpt_neox", {.d_model = 512, .n_layer = 6, .n_head = 8, .vocab_size = 50304}, 70'426'624},
    {"Pythia 160m", "gpt_neox", {.d_model = 768, .n_layer = 12, .n_head = 12, .vocab_size = 50304}, 162'322'944},
    {"Pythia 6.9b", "gpt_neox", {.d_model = 4096, .n_layer = 32, .n_head = 32}, 6'857'302'016},
    {"GPT-J-6B", "gptj", {.d_model = 4096, .n_layer = 28}, 6'050'882'784},
    {"Falcon 7B", "falcon", {.d_model = 4544, .n_layer = 32}, 6'921'720'704},
    {"OPT 125m", "opt", {.d_model = 768, .n_layer = 12}, 125'239'296},
    {"OPT 6.7B", "opt", {.d_model = 4096, .n_layer = 32, .n_head = 32}, 6'658'473'984},
    {"MPT-7B", "mpt", {.d_model = 4096, .n_layer = 32, .vocab_size = 50432}, 6'649'286'656},
};
// clang-format on

TEST(FromSizesTest, PublishedCounts) {
  for (const Sized& sized : kSized) {
    SCOPED_TRACE(sized.name);
    const auto model = describe_sizes(sized.family, sized.sizes);
    ASSERT_TRUE(model) << model.error().message;
    const auto slots = model->arch->tensor_slots(SourceFormat::kHuggingFace, model->config);
    EXPECT_EQ(module_tree(model->config, slots, {}).n_parameters, sized.n_parameters);
  }
}

int64_t n_elements(const std::vector<TensorSlot>& slots, std::initializer_list<std::string_view> parts) {
  int64_t n = 0;
  for (const TensorSlot& slot : slots) {
    const bool is_meant = std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
      return ("." + slot.name).find(part) != std::string::npos;
    });
    if (is_meant) n += slot.shape.n_elements();
  }
  return n;
}

// nanoGPT's models of Shakespeare's letters: GPT-2 without any bias. Its log of the larger one: 10.65M without
// positions, 10,740,096 decayed (matrices and embeddings), 4,992 not (gains).
TEST(FromSizesTest, NanoGptIsGpt2WithoutBiases) {
  const auto slots_of = [](const ModelSizes& sizes) {
    const auto model = describe_sizes("gpt2", sizes).value();
    return model.arch->tensor_slots(SourceFormat::kHuggingFace, model.config);
  };
  const auto cpu = slots_of({.d_model = 128, .n_layer = 4, .n_head = 4, .vocab_size = 65, .n_ctx = 64});
  EXPECT_EQ(n_elements(cpu, {".w", ".gain"}), 804'096);
  const auto gpu = slots_of({.d_model = 384, .n_layer = 6, .n_head = 6, .vocab_size = 65, .n_ctx = 256});
  EXPECT_EQ(n_elements(gpu, {".w", ".gain"}), 10'745'088);
  EXPECT_EQ(n_elements(gpu, {".w"}), 10'740'096);
  EXPECT_EQ(n_elements(gpu, {".gain"}), 4'992);
  EXPECT_EQ(n_elements(gpu, {".w", ".gain"}) - n_elements(gpu, {".pos_embed.w"}), 10'646'784);
}

TEST(FromSizesTest, EveryFamilyHasARule) {
  for (const Architecture* arch : all_architectures()) {
    const auto model = describe_sizes(arch->name, {.d_model = 4096, .n_layer = 3, .n_head = 32});
    ASSERT_TRUE(model) << arch->name << ": " << model.error().message;
    EXPECT_EQ(model->arch, arch);
    EXPECT_EQ(model->config.d_model, 4096);
    EXPECT_EQ(model->config.n_layer(), 3);
  }
}

struct Wrong {
  const char* family;
  ModelSizes sizes;
  const char* part;
};

TEST(FromSizesTest, MistakesAreNamedByTheirOptions) {
  const Wrong cases[] = {
      {"llama", {}, "--d-model is missing; --n-layer is missing"},
      {"llama", {.d_model = 0, .n_layer = 1}, "--d-model = 0 must be between 1"},
      {"llama", {.d_model = 64, .n_layer = 0}, "--n-layer = 0"},
      {"llama", {.d_model = 64, .n_layer = 20000}, "--n-layer = 20000"},
      {"llama", {.d_model = 4096, .n_layer = 1, .n_kv_head = 5}, "(--n-kv-head) = 5 does not divide the 32 heads"},
      {"llama", {.d_model = 4096, .n_layer = 1, .d_head = 0}, "--d-head = 0"},
      {"llama", {.d_model = 4096, .n_layer = 1, .d_ff = -3}, "--d-ff = -3"},
      {"llama", {.d_model = 4096, .n_layer = 1, .n_expert = 8}, "--n-expert"},
      {"gpt2", {.d_model = 768, .n_layer = 1, .n_kv_head = 2}, "--n-kv-head"},
      {"mixtral", {.d_model = 4096, .n_layer = 1, .n_expert = 4, .n_expert_used = 8}, "(--n-expert-used) = 8"},
      {"mixtral", {.d_model = 4096, .n_layer = 1, .d_ff = 4, .d_ff_expert = 8}, "--d-ff and --d-ff-expert differ"},
      {"bart", {.d_model = 768, .n_layer = -1}, "--n-layer = -1"},
  };
  for (const Wrong& wrong : cases) {
    SCOPED_TRACE(wrong.part);
    testing::expect_error(describe_sizes(wrong.family, wrong.sizes), ErrorCode::kInvalidArgument, wrong.part);
  }
  testing::expect_error(describe_sizes("llamas", {}), ErrorCode::kUnsupported, "known: openai-gpt, gpt2");
}

}  // namespace
}  // namespace vitro
