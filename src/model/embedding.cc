#include "model/embedding.h"

#include "ops/elementwise.h"
#include "ops/linear.h"

namespace vitro {
namespace {

// Adds the learned vector of each row's position; `scratch` holds the looked-up rows.
void add_learned_positions(const Model& model, const Pass& pass, Rows scratch, Rows resid) {
  const PanelMatrix& table = model.w_pos;
  for (const SequenceRows& rows : pass.batch.sequences) {
    for (int64_t i = 0; i < rows.n_rows; ++i) {
      const int64_t idx = rows.first_pos + i + model.config.position_offset;
      unpack_panel_row(table.dtype, table.panel(idx / kRowsPerPanel), idx % kRowsPerPanel, table.n_cols,
                       scratch.row(rows.first_row + i));
    }
  }
  add(resid, scratch, resid, pass.ctx);
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
  const Rows resid = pass.rows(Act::kResid, model.config.d_model);
  gather_rows(model.w_embed, pass.batch.ids, resid, pass.ctx);
  if (model.config.embed_scale != 1.0) scale(resid, static_cast<float>(model.config.embed_scale), pass.ctx);
  pass.see(HookPoint::kEmbed, -1, resid);
  if (model.config.position == PositionKind::kLearned) {
    add_learned_positions(model, pass, pass.rows(Act::kAttnIn, model.config.d_model), resid);
  }
  return resid;
}

void fill_rope_tables(const Model& model, Pass& pass) {
  for (int kind = 0; kind < static_cast<int>(model.rope_kinds.size()); ++kind) {
    const RopeTables tables = rope_tables(model, kind, pass);
    for (const SequenceRows& rows : pass.batch.sequences) {
      const Rotary& rotary = rows.rotary[static_cast<size_t>(kind)];
      const RopeTables part{tables.cos.slice(rows.first_row, rows.n_rows),
                            tables.sin.slice(rows.first_row, rows.n_rows)};
      fill_rope_rows(rotary.frequencies, rotary.attention_factor, rows.first_pos, part, pass.ctx);
    }
  }
}

RopeTables rope_tables(const Model& model, int kind, const Pass& pass) {
  return {kind_rows(Act::kRopeCos, model, kind, pass), kind_rows(Act::kRopeSin, model, kind, pass),
          model.rope_kinds[static_cast<size_t>(kind)].pairing == RopePairing::kAdjacent};
}

}  // namespace vitro
