#include "model/transformer.h"

#include "model/block.h"
#include "model/embedding.h"
#include "model/lm_head.h"

namespace vitro {

Rows forward(const Model& model, Pass& pass) {
  fill_position_tables(model, pass);
  const Rows resid = embed(model, pass);  // [n_tokens, d_model]: the residual stream
  for (int64_t layer = 0; layer < model.config.n_layer(); ++layer) run_block(model, layer, resid, pass);
  return lm_head(model, resid, pass);  // [n_logits, vocab_size]
}

}  // namespace vitro
