// The twelve steps of one layer, in order. Families differ in which norms stand where and in what is added when
// (BlockSpec); the steps and their order are the same.
#include "model/block.h"

#include "model/attention.h"
#include "model/feed_forward.h"
#include "ops/elementwise.h"

namespace vitro {
namespace {

bool has_norm_before(const BlockSpec& spec) {
  return spec.norm_place == NormPlace::kPre || spec.norm_place == NormPlace::kSandwich;
}

bool has_norm_on_output(const BlockSpec& spec) {
  return spec.norm_place == NormPlace::kSandwich || spec.norm_place == NormPlace::kOutOnly;
}

// What a half reads: the stream, normalised where norms stand before the halves. Where the residual is the norm's
// output, that takes the stream's place.
Rows half_input(const BlockPass& block, const NormWeights& norm, Act act, Rows resid) {
  const BlockSpec& spec = block.spec();
  if (!has_norm_before(spec)) return resid;
  const Rows x = spec.residual_from_norm ? resid : block.pass.rows(act, resid.width);
  normalize(norm_op(spec.norm, norm), resid, x, block.pass.ctx);
  return x;
}

// What a half adds to the stream, from what it gives.
void finish_half(const BlockPass& block, const NormWeights& post_norm, HookPoint point, Rows out) {
  const BlockSpec& spec = block.spec();
  if (has_norm_on_output(spec)) normalize(norm_op(spec.norm, post_norm), out, out, block.pass.ctx);
  if (spec.residual_scale != 1.0) scale(out, static_cast<float>(spec.residual_scale), block.pass.ctx);
  block.see(point, out);
}

// resid += out, normalised after the sum in the order of the 2017 paper.
void add_to_stream(const BlockPass& block, const NormWeights& norm, ConstRows out, Rows resid) {
  const BlockSpec& spec = block.spec();
  add(resid, out, resid, block.pass.ctx);
  if (spec.norm_place == NormPlace::kPost) normalize(norm_op(spec.norm, norm), resid, resid, block.pass.ctx);
}

}  // namespace

void run_block(const Model& model, int64_t layer, Rows resid, Pass& pass) {
  const BlockPass block{model, layer, pass};
  const BlockSpec& spec = block.spec();
  const BlockWeights& weights = block.weights();
  block.see(HookPoint::kResidPre, resid);

  // Step 1. Normalise the rows.
  const Rows attn_in = half_input(block, weights.attn_norm, Act::kAttnIn, resid);
  // Step 2. Project them to queries, keys and values.
  const Qkv qkv = project_qkv(block, attn_in);
  // Step 3. Rotate queries and keys by their positions.
  rotate_qk(block, qkv);
  // Step 4. Split into heads: head h is columns [h d_head, (h + 1) d_head) of a row. Keys and values join those of
  // earlier tokens.
  append_to_cache(block, qkv);
  // Step 5. Each head: scores q k^T scale, causal mask, softmax, weighted sum of values.
  // Step 6. Join the heads: they lie side by side in a row of z already.
  const Rows z = attend_heads(block, qkv);
  // Step 7. Project the joined heads back to the width of the stream.
  const Rows attn_out = project_out(block, z);
  finish_half(block, weights.attn_post_norm, HookPoint::kAttnOut, attn_out);
  // Step 8. Add to the stream (parallel blocks wait for the other half).
  const bool is_sequential = spec.residual == Residual::kSequential;
  if (is_sequential) {
    add_to_stream(block, weights.attn_norm, attn_out, resid);
    block.see(HookPoint::kResidMid, resid);
  }

  // Step 9. Normalise again (or share the rows of step 1).
  const bool is_shared = spec.residual == Residual::kParallelSharedNorm;
  const Rows ffn_in = is_shared ? attn_in : half_input(block, weights.ffn_norm, Act::kFfnIn, resid);
  // Step 10. Widen and activate.
  const Rows neurons = widen(block, ffn_in);
  // Step 11. Narrow back.
  const Rows ffn_out = narrow(block, neurons);
  finish_half(block, weights.ffn_post_norm, HookPoint::kMlpOut, ffn_out);
  // Step 12. Add to the stream.
  if (!is_sequential) add(ffn_out, attn_out, ffn_out, pass.ctx);
  add_to_stream(block, weights.ffn_norm, ffn_out, resid);
  block.see(HookPoint::kResidPost, resid);
}

}  // namespace vitro
