// Running a model beyond the length it was trained at: a choice of the user, made between the model's description and
// its loading, that stretches its rotary positions as a file could have asked for.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/config.h"

namespace vitro {

/// How rotary positions are stretched, and by how much.
struct ContextExtension {
  RopeScaling kind = RopeScaling::kNone;
  double factor = 1.0;
};

/// "KIND:FACTOR" with a kind of linear, ntk, dynamic, yarn, e.g. "yarn:4". InvalidArgument says what was expected.
Result<ContextExtension> parse_context_extension(std::string_view text);

/// Makes the model `factor` times as long and stretches its rotary positions by `kind` (formulas: model/rope.h), with
/// the length so far as n_ctx_original. Layers that see a window shorter than that length keep their rotation if others
/// see everything: distances within the window are none that training has not seen. A model of window layers only is
/// stretched as a whole.
/// factor  above 1, finite; factor * n_ctx (rounded down) at most kMaxContext
/// InvalidArgument: another kind or factor, no layer with rotary positions, positions that are stretched already; the
/// description is then as it was.
Status extend_context(ModelConfig* config, RopeScaling kind, double factor);

}  // namespace vitro
