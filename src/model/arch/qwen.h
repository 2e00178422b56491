// Windows and norms of q and k as Qwen's families have them, dense or with experts.
#pragma once

#include "model/arch/hf_config.h"

namespace vitro {

/// q and k normalised over each head, as the block's own norm.
void add_head_norms(BlockSpec* block);
/// Where the file does not list the layers, those from max_window_layers on see a window, if windows are on.
LayerWindows read_qwen_windows(ConfigReader& reader, int64_t n_layer);

}  // namespace vitro
