// The tensors of a decoder, from its description and one table of foreign module names. A family is a table; the walk
// over the blocks, the shapes and the layout transforms are here.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/config.h"
#include "weights/slot.h"

namespace vitro {

/// How one foreign format stacks q, k and v in a fused tensor.
enum class QkvLayout : uint8_t {
  kBlocks,   ///< rows [q of all heads | k | v]
  kGrouped,  ///< rows [KV head][q of its group, k, v][d_head]; with one query head a group: [head][q, k, v][d_head]
};

/// One layout of the experts of a layer. Names hold "{}" for an expert's number where the file has them one by one;
/// gate and up of an expert may be rows of one tensor.
struct ExpertNames {
  std::string_view gate = {}, up = {}, down = {};
  std::string_view gate_up = {};  ///< rows [gate | up], used instead of gate and up where it is not empty
  std::string_view weight = ".weight", bias = ".bias";
  bool is_one_by_one = false;   ///< a tensor for each expert; else one for all
  bool is_transposed = false;   ///< matrices are stored [in, out]
  bool is_interleaved = false;  ///< gate_up: rows gate 0, up 0, gate 1, up 1, ...
};

/// Module names of one foreign format, without ".weight" and ".bias"; empty where the family has no such module. Names
/// of `block` and of the modules outside are put behind each of `roots` in turn (checkpoints of the bare body lack the
/// prefix), except `unembed`. Norms: kPre has attn_norm and ffn_norm before each half, kPost after each sum; kOutOnly
/// has attn_post_norm and ffn_post_norm, kSandwich all four.
struct ModuleNames {
  std::span<const std::string_view> roots = {};
  std::string_view block = {};  ///< what stands before a block's number, e.g. "layers."
  std::string_view embed = {}, pos_embed = {}, embed_norm = {}, final_norm = {}, unembed = {};
  std::string_view embed_in = {}, embed_out = {};  ///< projections d_embed -> d_model and back
  std::string_view attn_norm = {}, q = {}, k = {}, v = {}, o = {}, q_norm = {}, k_norm = {}, attn_post_norm = {};
  std::string_view ffn_norm = {}, gate = {}, up = {}, down = {}, ffn_post_norm = {};
  std::string_view qkv = {};                  ///< fused projections, used where q, k, v are empty
  std::string_view gate_up = {};              ///< rows [gate | up], used instead of gate and up where it is not empty
  std::span<const ExpertNames> experts = {};  ///< layouts, tried in order
  std::string_view router = {}, selection_bias = {};  ///< selection_bias: the whole name
  std::string_view shared_gate = {}, shared_up = {}, shared_down = {}, shared_switch = {};
  std::string_view q_a = {}, q_a_norm = {}, q_b = {}, kv_a = {}, kv_a_norm = {}, kv_b = {};
  std::string_view sinks = {};     ///< the whole name
  std::string_view rel_bias = {};  ///< T5's table
  std::string_view cross_norm = {}, cross_q = {}, cross_k = {}, cross_v = {}, cross_o = {};
  std::string_view token_type = {}, pooler = {};
  /// Outside the roots, as unembed: what stands before the head, and a bias that is not the head's own.
  std::string_view head_transform = {}, head_norm = {}, head_bias = {};
  std::string_view norm_gain = ".weight", norm_bias = ".bias";
  std::string_view rope_factors = {}, rope_factors_short = {}, rope_factors_long = {};
  QkvLayout qkv_layout = QkvLayout::kBlocks;
  bool is_transposed = false;       ///< matrices of the blocks are stored [in, out]
  bool is_rope_adjacent = false;    ///< q and k rows are in adjacent-pair order, ours in halves
  bool is_head_norm_apart = false;  ///< QkNorm::kPerHeadOwn: a tensor a head, "{q_norm}.{h}"; else one [n_head, d_head]
  double norm_add = 0.0;            ///< undoes a constant that was folded into norm gains
};

/// What may stand before the names of Llama's descendants, and what their checkpoints may hold that is not read:
/// rotary tables of old versions, the repeat of a tied head.
inline constexpr std::string_view kLlamaRoots[] = {"model.", ""};
inline constexpr std::string_view kLlamaIgnorable[] = {".rotary_emb.inv_freq", "lm_head.weight"};

/// Names in Hugging Face checkpoints of Llama's descendants, with norms of q and k as most call them.
ModuleNames hf_names(std::span<const std::string_view> roots = kLlamaRoots);
/// Names in those of GPT-2's descendants.
ModuleNames hf_gpt_names(std::span<const std::string_view> roots);
/// Names in those of Megatron's descendants as BLOOM spells them; q, k, v in one tensor by head.
ModuleNames hf_megatron_names(std::span<const std::string_view> roots);
/// Names in GGUF files, the same for all decoders.
ModuleNames gguf_names();
/// The same where the converter permutes q and k rows to adjacent pairs, as in Meta's own Llama files.
ModuleNames gguf_permuted_names();
/// The same for families whose files keep q, k, v in one tensor.
ModuleNames gguf_fused_names();

/// Experts in Hugging Face files: one by one as most are published, or fused as transformers 5 holds them.
inline constexpr ExpertNames kHfExperts[] = {
    {.gate = "mlp.experts.{}.gate_proj",
     .up = "mlp.experts.{}.up_proj",
     .down = "mlp.experts.{}.down_proj",
     .is_one_by_one = true},
    {.down = "mlp.experts.down_proj", .gate_up = "mlp.experts.gate_up_proj", .weight = "", .bias = "_bias"}};
/// In GGUF files: all experts of a layer in one tensor, or one by one in those of the first months.
inline constexpr ExpertNames kGgufExperts[] = {
    {.gate = "ffn_gate_exps", .up = "ffn_up_exps", .down = "ffn_down_exps"},
    {.gate = "ffn_gate.{}", .up = "ffn_up.{}", .down = "ffn_down.{}", .is_one_by_one = true}};

/// Every tensor of the model in forward order. Only for a config that check_config accepts.
std::vector<TensorSlot> decoder_slots(const ModelConfig& config, const ModuleNames& names);
/// The same where files of one format differ in names or layout: looked for under `names`, then under `others`.
std::vector<TensorSlot> decoder_slots(const ModelConfig& config, const ModuleNames& names, const ModuleNames& others);

/// Those of an encoder-decoder: what both share, the encoder's under "encoder.", the decoder's, the head.
std::vector<TensorSlot> encoder_decoder_slots(const ModelConfig& config, const ModuleNames& encoder,
                                              const ModuleNames& decoder);
/// Tensors that files hold and nothing here describes, by the beginning of their names; `what` is said to people.
TensorSlot skipped_tensors(std::string what, std::string prefix);
/// Those of the layer that Hugging Face files of DeepSeek's descendants number behind the last.
TensorSlot next_token_tensors(const ModelConfig& config);

}  // namespace vitro
