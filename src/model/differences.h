// In what two descriptions of one model differ: a GGUF file cannot say every fact that config.json says.
#pragma once

#include <string>
#include <vector>

#include "model/config.h"

namespace vitro {

/// Our names of the knobs that are set differently ("attn.window", "rope.scaling"), each once, in the order of
/// config.h; n_ctx is none, since no number depends on how long a text may become. Numbers count as equal if they round
/// to the same float32, which is all that GGUF keeps; stretching that one side holds as a tensor of factors is taken
/// for that of the other. Empty: the same model.
std::vector<std::string> config_differences(const ModelConfig& a, const ModelConfig& b);

}  // namespace vitro
