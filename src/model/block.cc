// The twelve steps of one layer, in order. Families differ in which norms stand where and in what is added when
// (BlockSpec); the steps and their order are the same.
#include "model/block.h"

#include "model/attention.h"
#include "model/feed_forward.h"
#include "ops/elementwise.h"

namespace vitro {
namespace {

// Sandwich blocks normalise what a half gives before it is added.
void norm_output(const BlockPass& block, const NormWeights& weights, Rows out) {
  if (block.spec().norm_place != NormPlace::kSandwich) return;
  normalize(norm_op(block.spec().norm, weights), out, out, block.pass.ctx);
}

}  // namespace

void run_block(const Model& model, int64_t layer, Rows resid, Pass& pass) {
  const BlockPass block{model, layer, pass};
  const BlockSpec& spec = block.spec();
  const BlockWeights& weights = block.weights();
  const int64_t d_model = model.config.d_model;
  block.see(HookPoint::kResidPre, resid);

  // Step 1. Normalise the rows.
  const Rows attn_in = pass.rows(Act::kAttnIn, d_model);
  normalize(norm_op(spec.norm, weights.attn_norm), resid, attn_in, pass.ctx);
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
  norm_output(block, weights.attn_post_norm, attn_out);
  block.see(HookPoint::kAttnOut, attn_out);
  // Step 8. Add to the stream (parallel blocks wait for the other half).
  const bool is_sequential = spec.residual == Residual::kSequential;
  if (is_sequential) {
    add(resid, attn_out, resid, pass.ctx);
    block.see(HookPoint::kResidMid, resid);
  }

  // Step 9. Normalise again (or share the rows of step 1).
  Rows ffn_in = attn_in;
  if (spec.residual != Residual::kParallelSharedNorm) {
    ffn_in = pass.rows(Act::kFfnIn, d_model);
    normalize(norm_op(spec.norm, weights.ffn_norm), resid, ffn_in, pass.ctx);
  }
  // Step 10. Widen and activate.
  const Rows neurons = widen(block, ffn_in);
  // Step 11. Narrow back.
  const Rows ffn_out = narrow(block, neurons);
  norm_output(block, weights.ffn_post_norm, ffn_out);
  block.see(HookPoint::kMlpOut, ffn_out);
  // Step 12. Add to the stream.
  if (!is_sequential) add(ffn_out, attn_out, ffn_out, pass.ctx);
  add(resid, ffn_out, resid, pass.ctx);
  block.see(HookPoint::kResidPost, resid);
}

}  // namespace vitro
