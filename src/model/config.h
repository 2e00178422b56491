// ModelConfig and BlockSpec: a model as data. Everything that differs between families is a knob here; nothing below
// model/arch/ knows a family's name. The list of knobs and who needs which: docs/architecture.md, "knobs". A knob that
// the forward pass cannot do yet is refused by check_runnable() by name; it is never ignored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace vitro {

// Limits on what a file may ask for, far above any real model, such that every product of sizes fits into int64: a
// matrix has at most 2^44 elements (2^46 for the embedding), a model fewer than 2^61, whose bytes as float32 still fit.
inline constexpr int64_t kMaxLayers = 10'000;
inline constexpr int64_t kMaxWidth = int64_t{1} << 22;  ///< d_model, d_ff, n_head * d_head
inline constexpr int64_t kMaxVocab = int64_t{1} << 24;
inline constexpr int64_t kMaxContext = int64_t{1} << 30;
inline constexpr int64_t kMaxRopeFactors = 1024;            ///< of one LongRoPE list: every layer has a copy
inline constexpr int64_t kMaxHeadNorms = int64_t{1} << 18;  ///< heads with norms of their own, all layers together
inline constexpr int64_t kMaxExperts = int64_t{1} << 16;    ///< of a layer; all together are no wider than kMaxWidth
inline constexpr int64_t kMaxBiasBuckets = int64_t{1} << 16;

enum class ModelKind : uint8_t { kDecoder, kEncoder, kEncoderDecoder };

// ---- positions ----

enum class PositionKind : uint8_t { kNone, kLearned, kSinusoidal, kRope, kAlibi, kDistanceBuckets };
/// Which values of a head form a pair: halves (i, i + r/2) or adjacent (2i, 2i + 1).
enum class RopePairing : uint8_t { kHalves, kAdjacent };
/// How frequencies are stretched beyond the trained length; formulas in model/rope.cc.
enum class RopeScaling : uint8_t { kNone, kLinear, kNtk, kDynamic, kYarn, kLongRope, kLlama3, kFactors };

/// Rotary positions of one kind of layer. Frequencies f_i = theta^(-2i/d_rot), i < d_rot / 2, then stretched.
struct RopeSpec {
  int64_t d_rot = 0;  ///< rotated values a head (partial rotary: < d_head), even
  double theta = 10000.0;
  RopePairing pairing = RopePairing::kHalves;
  RopeScaling scaling = RopeScaling::kNone;
  double factor = 1.0;  ///< linear, ntk, dynamic, yarn, longrope, llama3
  /// yarn, longrope, llama3: length the model was trained at first; dynamic: the longest the model is made for
  int64_t n_ctx_original = 0;
  double low_freq_factor = 1.0;                               ///< llama3
  double high_freq_factor = 4.0;                              ///< llama3
  double beta_fast = 32.0;                                    ///< yarn
  double beta_slow = 1.0;                                     ///< yarn
  double mscale = 0.0;                                        ///< yarn, 0: absent
  double mscale_all_dim = 0.0;                                ///< yarn, 0: absent
  double attention_factor = 0.0;                              ///< multiplier on cos and sin; 0: the rule of the kind
  bool is_truncated = true;                                   ///< yarn: floor and ceil the ramp's ends
  std::vector<double> short_factors = {}, long_factors = {};  ///< longrope, d_rot / 2 each
  friend bool operator==(const RopeSpec&, const RopeSpec&) = default;
};

// ---- norms ----

enum class NormKind : uint8_t { kNone, kLayerNorm, kRms };

/// One normalisation. RMS: x * (gain + gain_offset) / rms(x); LayerNorm: also minus the mean, plus a bias.
struct NormSpec {
  NormKind kind = NormKind::kNone;
  double eps = 0.0;
  bool has_gain = true;
  bool has_bias = false;
  double gain_offset = 0.0;  ///< 1 where the file stores gain - 1
  friend bool operator==(const NormSpec&, const NormSpec&) = default;
};

// ---- attention ----

/// What q and k are normalised over before the rotary step.
enum class QkNorm : uint8_t { kNone, kPerHeadShared, kPerHeadOwn, kWholeProjection };
enum class MaskKind : uint8_t { kCausal, kFull, kWindow, kStrided, kFixedBlocks };

struct AttentionSpec {
  int64_t n_head = 0;
  int64_t n_kv_head = 0;  ///< divides n_head
  int64_t d_head = 0;     ///< width of q and k
  int64_t d_head_v = 0;   ///< width of v
  bool has_q_bias = false, has_k_bias = false, has_v_bias = false, has_o_bias = false;
  double qkv_clip = 0.0;  ///< clamp after projection; 0: none
  QkNorm qk_norm = QkNorm::kNone;
  NormSpec qk_norm_spec = {};  ///< of q and k; with latent attention of the latent vectors
  double scale = 0.0;          ///< multiplies q k, layer-dependent factors included
  double softcap = 0.0;        ///< c tanh(score / c); 0: none
  MaskKind mask = MaskKind::kCausal;
  int64_t window = 0;      ///< kWindow: keys with q_pos - k_pos < window
  int64_t stride = 0;      ///< kStrided, kFixedBlocks: distance or block length
  int64_t n_summary = 0;   ///< kFixedBlocks: columns of each past block that all later rows see
  bool has_sinks = false;  ///< a learned logit a head that takes part in the softmax
  PositionKind position = PositionKind::kRope;
  RopeSpec rope = {};           ///< position == kRope
  double alibi_max_bias = 0.0;  ///< alibi: slopes are 2^(-max_bias i / n), formula in model/alibi.h
  double alibi_factor = 1.0;    ///< multiplies the bias: d_head^-1/2 where it is added before the scale (Falcon)
  bool is_alibi_bf16 = false;   ///< slope, position and their product are rounded to bfloat16 (Falcon)
  /// kDistanceBuckets: this layer has a table of biases [n_bias_buckets, n_head]; those behind it use it too.
  bool has_bias_table = false;
  // Latent attention (DeepSeek-AI 2024, arXiv 2405.04434); kv_lora_rank 0: none. q (through a vector of q_lora_rank
  // where that is not 0) has d_head = d_head_nope + d_head_rope values a head, the last of them rotated; k and v of
  // all n_head = n_kv_head heads come out of one vector of kv_lora_rank, beside one rotated part of k for all heads.
  int64_t q_lora_rank = 0, kv_lora_rank = 0, d_head_nope = 0, d_head_rope = 0;
  friend bool operator==(const AttentionSpec&, const AttentionSpec&) = default;

  /// Query heads that share one K, V head.
  int64_t group_size() const { return n_head / n_kv_head; }
};

// ---- feed forward ----

enum class ActivationKind : uint8_t { kSilu, kGeluTanh, kGeluErf, kRelu, kReluSquared, kQuickGelu, kClampedSwiglu };

/// How the router's logits become the weights of the chosen experts. softmax: over all experts, then the best are
/// taken; softmax_selected: over the best alone; sigmoid: each expert by itself; sparse_mixer: one after the other,
/// each by a softmax over the experts whose logits come near the best that is left (Liu et al. 2023, arXiv 2310.00811).
enum class RouterScore : uint8_t { kSoftmax, kSoftmaxSelected, kSigmoid, kSparseMixer };
/// What a group of experts is worth where only the best groups may be chosen from.
enum class GroupScore : uint8_t { kMax, kSumOfTwo };

/// Mixture of experts (Shazeer et al. 2017, arXiv 1701.06538); n_expert 0: dense.
struct MoeSpec {
  int64_t n_expert = 0;
  int64_t n_expert_used = 0;
  int64_t d_ff_expert = 0;  ///< width of each routed expert
  int64_t d_ff_shared = 0;  ///< width of what all tokens pass beside them, all shared experts together; 0: none
  RouterScore score = RouterScore::kSoftmax;
  double router_jitter = 0.0;    ///< kSparseMixer: how near, relative to the best
  bool is_renormalised = false;  ///< weights of the chosen divided by their sum
  double routed_scale = 1.0;     ///< multiplies the weights
  int64_t n_group = 1;           ///< experts are in so many groups,
  int64_t n_group_used = 1;      ///< of which the best may be chosen from
  GroupScore group_score = GroupScore::kMax;
  bool has_router_bias = false;     ///< added to the logits (gpt-oss)
  bool has_selection_bias = false;  ///< added to the scores when choosing only (DeepSeek-V3); not trained by gradients
  bool has_expert_bias = false;     ///< biases of every matrix of every expert
  bool has_shared_gate = false;     ///< the shared part is multiplied by a sigmoid of its own (Qwen2-MoE)
  friend bool operator==(const MoeSpec&, const MoeSpec&) = default;
};

struct FeedForwardSpec {
  int64_t d_ff = 0;      ///< of a dense layer; 0 where experts stand in its place
  bool is_gated = true;  ///< act(gate x) * (up x), else act(up x)
  ActivationKind activation = ActivationKind::kSilu;
  double clamp = 0.0;       ///< kClampedSwiglu: gate at most this, |up| at most this; 0: none
  double gate_slope = 1.0;  ///< kClampedSwiglu: gate sigmoid(slope gate) (up + 1)
  bool has_in_bias = false, has_out_bias = false;
  MoeSpec moe = {};
  friend bool operator==(const FeedForwardSpec&, const FeedForwardSpec&) = default;
};

// ---- one block ----

/// Where norms stand. pre: before each half; post: after the add (Vaswani et al. 2017); sandwich: before and on the
/// output; out_only: on the output alone.
enum class NormPlace : uint8_t { kPre, kPost, kSandwich, kOutOnly };
/// sequential: x += attn(norm x); x += ffn(norm x).  parallel: x += attn(norm1 x) + ffn(norm2 x), norm2 may be norm1.
enum class Residual : uint8_t { kSequential, kParallel, kParallelSharedNorm };

struct BlockSpec {
  NormSpec norm = {};  ///< kind and eps of every norm of the block but qk_norm
  NormPlace norm_place = NormPlace::kPre;
  Residual residual = Residual::kSequential;
  bool residual_from_norm = false;   ///< kPre: the norm's output replaces the stream (BLOOM's flag)
  double residual_scale = 1.0;       ///< multiplies what a half adds to the stream
  bool has_cross_attention = false;  ///< behind attn: the same heads and biases, over the encoder's output
  AttentionSpec attn = {};
  FeedForwardSpec ffn = {};
  friend bool operator==(const BlockSpec&, const BlockSpec&) = default;
};

// ---- the model ----

/// Where a value of the description came from, for `show --config`.
enum class ValueOrigin : uint8_t { kFile, kDefault };
struct ConfigValue {
  std::string name;    ///< our name, e.g. "blocks.0.attn.window" or "rope.theta"
  std::string source;  ///< the foreign key it was read from (or would be)
  std::string value;
  ValueOrigin origin = ValueOrigin::kFile;
};

/// What stands on top. logits: one for each token of the vocabulary; masked_lm: the same behind a matrix, an activation
/// and a norm (BERT); classes of the whole text or of each token.
enum class HeadKind : uint8_t { kNone, kLogits, kMaskedLm, kTextClasses, kTokenClasses };

struct ModelConfig {
  std::string family = {};  ///< registry name, for people only
  ModelKind kind = ModelKind::kDecoder;
  int64_t d_model = 0;
  int64_t d_embed = 0;     ///< width of embedding and head where a projection leads to d_model and back; 0: d_model
  int64_t vocab_size = 0;  ///< rows of the embedding
  int64_t n_ctx = 0;       ///< longest sequence the model is made for

  double embed_scale = 1.0;
  NormSpec embed_norm = {};
  PositionKind position =
      PositionKind::kRope;           ///< kLearned / kSinusoidal add to the embedding; others act in attention
  bool is_sinusoid_adjacent = true;  ///< sine and cosine of a frequency side by side, as in the paper; else two halves
  int64_t position_offset = 0;
  int64_t n_position_rows = 0;
  int64_t n_token_types = 0;

  std::vector<BlockSpec> blocks = {};  ///< n_layer of them; layers may differ
  /// Encoder-decoders: the stack that reads the source; `blocks` is then the decoder. An encoder alone is `blocks`.
  std::vector<BlockSpec> encoder_blocks = {};
  int64_t n_bias_buckets = 0;     ///< rows of the tables of biases by distance (T5); 0: none
  int64_t bias_max_distance = 0;  ///< distances from here on share the last bucket
  bool has_pooler = false;        ///< a matrix and tanh over the first token (BERT)

  NormSpec final_norm = {};  ///< of every stack
  HeadKind head = HeadKind::kLogits;
  bool has_head_transform = false;  ///< a matrix with bias before the head (BERT's masked head, RoBERTa's classes)
  int64_t n_class = 0;              ///< kTextClasses, kTokenClasses
  bool is_head_tied = false;
  bool has_head_bias = false;
  double logit_scale = 1.0;
  double logit_softcap = 0.0;

  std::vector<int32_t> eos_ids = {};  ///< stop tokens of the config (generation_config and the tokenizer may add)
  int32_t bos_id = -1;

  std::vector<ConfigValue> values = {};  ///< every key that was read or defaulted, in reading order

  int64_t n_layer() const { return static_cast<int64_t>(blocks.size()); }
  /// Width of a row of the embedding.
  int64_t embed_width() const { return d_embed > 0 ? d_embed : d_model; }
};

/// The distinct rotary kinds of the blocks, in order of first use.
std::vector<RopeSpec> rope_kinds(const ModelConfig& config);
/// The first attention with ALiBi; null if there is none. check_runnable sees to it that all are alike.
const AttentionSpec* alibi_spec(const ModelConfig& config);

/// Dimensions consistent and within limits (positive, n_kv_head divides n_head, d_rot <= d_head, at most 10,000 layers,
/// ...); what the forward pass needs from any file. InvalidArgument, all problems at once.
Status check_config(const ModelConfig& config);
/// Unsupported, naming every knob that model/transformer.cc cannot run (yet); the planner and `show` still work on such
/// a model.
Status check_runnable(const ModelConfig& config);

}  // namespace vitro
