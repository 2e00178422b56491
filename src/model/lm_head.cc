#include "model/lm_head.h"

#include <array>

#include "ops/elementwise.h"
#include "ops/linear.h"

namespace vitro {

Rows lm_head(const Model& model, ConstRows resid, Pass& pass) {
  const int64_t n_logits = pass.batch.n_logits();
  const Rows last = pass.acts.rows(Act::kFinal, n_logits);
  const Rows logits = pass.acts.rows(Act::kLogits, n_logits);
  if (n_logits == 0) return logits;
  copy_rows(resid, pass.batch.logit_rows, last);
  if (model.config.final_norm.kind != NormKind::kNone) {
    normalize(norm_op(model.config.final_norm, model.final_norm), last, last, pass.ctx);
  }
  const ModelConfig& config = model.config;
  ConstRows head_in = last;
  if (config.d_embed > 0) {
    const Rows narrow = pass.acts.rows(Act::kFinalNarrow, n_logits);
    linear(last, std::array{LinearJob{model.w_embed_out, nullptr, narrow}}, pass.ctx);
    head_in = narrow;
  }
  pass.see(HookPoint::kFinalNormOut, -1, head_in);
  linear(head_in, std::array{LinearJob{model.w_unembed, model.b_unembed, logits}}, pass.ctx);
  if (config.logit_scale != 1.0) scale(logits, static_cast<float>(config.logit_scale), pass.ctx);
  if (config.logit_softcap != 0.0) softcap(logits, static_cast<float>(config.logit_softcap), pass.ctx);
  pass.see(HookPoint::kLogits, -1, logits);
  return logits;
}

}  // namespace vitro
