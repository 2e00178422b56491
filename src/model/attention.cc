#include "model/attention.h"

#include <array>

#include "model/embedding.h"
#include "ops/elementwise.h"
#include "ops/linear.h"
#include "ops/rope.h"

namespace vitro {
namespace {

AttendShape attend_shape(const BlockPass& block, const AttentionSpec& spec) {
  return {.n_head = spec.n_head,
          .n_kv_head = spec.n_kv_head,
          .d_head = spec.d_head,
          .window = spec.mask == MaskKind::kWindow ? spec.window : 0,
          .scale = static_cast<float>(spec.scale),
          .softcap = static_cast<float>(spec.softcap),
          .cache_type = block.pass.cache.spec().type,
          .bias = spec.position == PositionKind::kAlibi ? alibi_bias(spec, block.pass) : AttendBias{}};
}

// Normalises q or k in place, over each head or over the whole projection.
void normalize_qk(const AttentionSpec& spec, const NormWeights& weights, Rows x, OpContext& ctx) {
  if (spec.qk_norm == QkNorm::kNone) return;
  NormOp op = norm_op(spec.qk_norm_spec, weights);
  if (spec.qk_norm == QkNorm::kWholeProjection) return normalize(op, x, x, ctx);
  if (spec.qk_norm == QkNorm::kPerHeadOwn) op.gain_stride = spec.d_head;
  normalize_heads(op, x, spec.d_head, ctx);
}

// Tables for ops/attend of one layer, in the room that the activations keep for them.
std::span<const AttendSequence> cache_views(const BlockPass& block, const AttentionSpec& spec) {
  auto& heads = block.pass.acts.kv_heads();
  auto& sequences = block.pass.acts.attend_sequences();
  heads.clear();
  sequences.clear();
  for (const SequenceRows& rows : block.pass.batch.sequences) {
    const size_t first_head = heads.size();
    for (int64_t g = 0; g < spec.n_kv_head; ++g) heads.push_back(block.pass.cache.head(block.layer, rows.sequence, g));
    sequences.push_back({rows.first_row,
                         rows.n_rows,
                         rows.first_pos,
                         {heads.data() + first_head, static_cast<size_t>(spec.n_kv_head)}});
  }
  return sequences;
}

}  // namespace

Qkv project_qkv(const BlockPass& block, ConstRows x) {
  const AttentionSpec& spec = block.spec().attn;
  const AttentionWeights& weights = block.weights().attn;
  block.see(HookPoint::kAttnIn, x);
  const Qkv qkv{block.pass.rows(Act::kQ, spec.n_head * spec.d_head),
                block.pass.rows(Act::kK, spec.n_kv_head * spec.d_head),
                block.pass.rows(Act::kV, spec.n_kv_head * spec.d_head)};
  linear(x,
         std::array{LinearJob{weights.w_q, weights.b_q, qkv.q}, LinearJob{weights.w_k, weights.b_k, qkv.k},
                    LinearJob{weights.w_v, weights.b_v, qkv.v}},
         block.pass.ctx);
  if (spec.qkv_clip != 0.0) {
    for (const Rows& rows : {qkv.q, qkv.k, qkv.v}) clamp(rows, static_cast<float>(spec.qkv_clip), block.pass.ctx);
  }
  block.see(HookPoint::kQ, qkv.q);
  block.see(HookPoint::kK, qkv.k);
  block.see(HookPoint::kV, qkv.v);
  return qkv;
}

void rotate_qk(const BlockPass& block, const Qkv& qkv) {
  const AttentionSpec& spec = block.spec().attn;
  OpContext& ctx = block.pass.ctx;
  normalize_qk(spec, block.weights().attn.q_norm, qkv.q, ctx);
  normalize_qk(spec, block.weights().attn.k_norm, qkv.k, ctx);
  if (const int kind = block.model.rope_kind_of[static_cast<size_t>(block.layer)]; kind >= 0) {
    const RopeTables tables = rope_tables(block.model, kind, block.pass);
    rotate(tables, qkv.q, spec.d_head, ctx);
    rotate(tables, qkv.k, spec.d_head, ctx);
  }
  block.see(HookPoint::kRotQ, qkv.q);
  block.see(HookPoint::kRotK, qkv.k);
}

void append_to_cache(const BlockPass& block, const Qkv& qkv) {
  for (const SequenceRows& rows : block.pass.batch.sequences) {
    block.pass.cache.append(block.layer, rows.sequence, rows.first_pos, qkv.k.slice(rows.first_row, rows.n_rows),
                            qkv.v.slice(rows.first_row, rows.n_rows), block.pass.ctx);
  }
}

Rows attend_heads(const BlockPass& block, const Qkv& qkv) {
  const AttentionSpec& spec = block.spec().attn;
  Pass& pass = block.pass;
  const AttendShape shape = attend_shape(block, spec);
  const AttendOut out{pass.rows(Act::kZ, spec.n_head * spec.d_head), pass.rows(Act::kLse, spec.n_head)};
  const Rows scratch =
      pass.acts.rows(Act::kAttendScratch, pass.ctx.pool->n_threads(), attend_scratch_floats(spec.d_head));
  attend(shape, cache_views(block, spec), qkv.q, out, scratch, pass.ctx);
  block.see(HookPoint::kLse, out.lse);
  block.see(HookPoint::kZ, out.z);
  if (pass.hooks && pass.hooks->mask().has(HookPoint::kPattern)) {
    pass.hooks->attention({block.layer, pass.batch, shape, qkv.q, out.lse, pass.cache, *pass.ctx.kernels});
  }
  return out.z;
}

Rows project_out(const BlockPass& block, ConstRows z) {
  const AttentionWeights& weights = block.weights().attn;
  const Rows out = block.pass.rows(Act::kAttnOut, block.model.config.d_model);
  linear(z, std::array{LinearJob{weights.w_o, weights.b_o, out}}, block.pass.ctx);
  block.see(HookPoint::kAttnModuleOut, out);
  return out;
}

}  // namespace vitro
