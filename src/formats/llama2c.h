// llama2.c checkpoints (version 0 ".bin": seven int32, then float32 tensors in a fixed order).
// https://github.com/karpathy/llama2.c
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"
#include "formats/value.h"
#include "formats/weight_index.h"

namespace vitro {

/// The header as a flat object with its own names (dim, hidden_dim, n_layers, n_heads, n_kv_heads, vocab_size, seq_len,
/// shared_classifier) and one entry for each layer's slice of each tensor: "tok_embeddings.weight",
/// "layers.{i}.attention.wq.weight", wk, wv, wo, "layers.{i}.attention_norm.weight", "layers.{i}.ffn_norm.weight",
/// "layers.{i}.feed_forward.w1.weight", w2, w3, "norm.weight", and "output.weight" if not shared. The two RoPE tables
/// of the file are skipped but must be there.
struct Llama2cFile {
  Value config;
  WeightIndex tensors;
};
Result<Llama2cFile> read_llama2c(std::span<const std::byte> bytes, std::string_view where);

}  // namespace vitro
