#include "model/embedding.h"

#include <algorithm>
#include <array>

#include "model/alibi.h"
#include "model/sinusoid.h"
#include "ops/elementwise.h"
#include "ops/linear.h"

namespace vitro {
namespace {

// Writes the learned vector of each row's position.
void learned_positions(const Model& model, const Pass& pass, Rows out) {
  const PanelMatrix& table = model.w_pos;
  for (const SequenceRows& rows : pass.batch.sequences) {
    for (int64_t i = 0; i < rows.n_rows; ++i) {
      const int64_t idx = rows.first_pos + rows.pos_shift + i + model.config.position_offset;
      unpack_panel_row(table.dtype, table.panel(idx / kRowsPerPanel), idx % kRowsPerPanel, table.n_cols,
                       out.row(rows.first_row + i));
    }
  }
}

// Writes sines and cosines of each row's position.
void sinusoidal_positions(const Model& model, const Pass& pass, Rows out) {
  for (const SequenceRows& rows : pass.batch.sequences) {
    for (int64_t i = 0; i < rows.n_rows; ++i) {
      const int64_t pos = rows.first_pos + rows.pos_shift + i;
      fill_sinusoid(model.sinusoid, pos, model.config.is_sinusoid_adjacent, out.row(rows.first_row + i));
    }
  }
}

void add_positions(const Model& model, Pass& pass, Rows resid) {
  const PositionKind kind = model.config.position;
  if (kind != PositionKind::kLearned && kind != PositionKind::kSinusoidal) return;
  const Rows positions = pass.rows(Act::kAttnIn, model.config.d_model);  // not in use yet
  if (kind == PositionKind::kLearned) learned_positions(model, pass, positions);
  if (kind == PositionKind::kSinusoidal) sinusoidal_positions(model, pass, positions);
  add(resid, positions, resid, pass.ctx);
}

void look_up(const Model& model, Pass& pass, Rows resid) {
  if (model.config.d_embed == 0) return gather_rows(model.w_embed, pass.batch.ids, resid, pass.ctx);
  const Rows narrow = pass.rows(Act::kEmbedNarrow, model.config.d_embed);
  gather_rows(model.w_embed, pass.batch.ids, narrow, pass.ctx);
  linear(narrow, std::array{LinearJob{model.w_embed_in, nullptr, resid}}, pass.ctx);
}

void fill_rope_tables(const Model& model, Pass& pass) {
  for (int kind = 0; kind < static_cast<int>(model.rope_kinds.size()); ++kind) {
    const RopeTables tables = rope_tables(model, kind, pass);
    for (const SequenceRows& rows : pass.batch.sequences) {
      const Rotary& rotary = rows.rotary[static_cast<size_t>(kind)];
      const RopeTables part{tables.cos.slice(rows.first_row, rows.n_rows),
                            tables.sin.slice(rows.first_row, rows.n_rows)};
      fill_rope_rows(rotary.frequencies, rotary.attention_factor, rows.first_pos + rows.pos_shift, part, pass.ctx);
    }
  }
}

// The part of a table buffer that one rotary kind uses.
Rows kind_rows(Act act, const Model& model, int kind, const Pass& pass) {
  const int64_t n_limit = pass.acts.limits().n_tokens;
  Rows rows = pass.acts.rows(act, static_cast<int64_t>(model.rope_kinds.size()) * n_limit)
                  .slice(kind * n_limit, pass.batch.n_tokens());
  rows.width = model.rope_kinds[static_cast<size_t>(kind)].d_rot / 2;
  return rows;
}

}  // namespace

Rows embed(const Model& model, Pass& pass) {
  const ModelConfig& config = model.config;
  const Rows resid = pass.rows(Act::kResid, config.d_model);
  look_up(model, pass, resid);
  if (config.embed_scale != 1.0) scale(resid, static_cast<float>(config.embed_scale), pass.ctx);
  pass.see(HookPoint::kEmbed, -1, resid);
  add_positions(model, pass, resid);
  if (config.embed_norm.kind != NormKind::kNone) {
    normalize(norm_op(config.embed_norm, model.embed_norm), resid, resid, pass.ctx);
  }
  return resid;
}

void fill_position_tables(const Model& model, Pass& pass) {
  fill_rope_tables(model, pass);
  const AttentionSpec* alibi = alibi_spec(model.config);
  if (!alibi) return;
  int64_t n_keys = 0;
  for (const SequenceRows& rows : pass.batch.sequences) n_keys = std::max(n_keys, rows.first_pos + rows.n_rows);
  fill_alibi(*alibi, model.alibi_slopes, n_keys, pass.acts.limits().n_ctx,
             pass.acts.rows(Act::kAttendBias, alibi->n_head));
}

AttendBias alibi_bias(const AttentionSpec& spec, const Pass& pass) {
  return {pass.acts.rows(Act::kAttendBias, spec.n_head), !spec.is_alibi_bf16};
}

RopeTables rope_tables(const Model& model, int kind, const Pass& pass) {
  return {kind_rows(Act::kRopeCos, model, kind, pass), kind_rows(Act::kRopeSin, model, kind, pass),
          model.rope_kinds[static_cast<size_t>(kind)].pairing == RopePairing::kAdjacent};
}

}  // namespace vitro
