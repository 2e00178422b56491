// The module tree of a model: every tensor under its module, layers of equal kind folded into one, with parameters and
// bytes summed up. From the description alone, or with the types that a file gives. What `vitro show` prints.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/config.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "weights/bind.h"
#include "weights/slot.h"

namespace vitro {

/// One tensor of a module (of each copy, where layers are folded).
struct TensorLeaf {
  std::string name;  ///< last part of our name, e.g. "w_q"
  Shape shape;
  std::vector<DType> types;  ///< what the layers of the fold use, each once; empty without a file
  int64_t n_bytes = 0;       ///< in the file's type, all copies; 0 without a file
  bool is_parameter = true;  ///< false: a table that training does not touch (RoPE factors)
};

struct Module {
  std::string name;             ///< "attn", or "0-31" for folded layers
  std::string what;             ///< in words, e.g. "32 heads of 96, causal, RoPE theta 10000"
  std::vector<int64_t> layers;  ///< of folded layers, else empty
  int64_t n_copies = 1;         ///< times this module stands in its parent
  int64_t n_parameters = 0;     ///< of one copy, modules inside included
  int64_t n_bytes = 0;          ///< of all copies
  std::vector<TensorLeaf> tensors;
  std::vector<Module> modules;
};

/// The tree below an unnamed root. Layers fold where their BlockSpecs are equal. `bound` is what bind_tensors gave for
/// `slots`, or empty: then optional slots are left out and types are unknown.
Module module_tree(const ModelConfig& config, std::span<const TensorSlot> slots, std::span<const BoundTensor> bound);

/// {0, 1, 2, 5} -> "0-2, 5".
std::string layer_ranges(std::span<const int64_t> layers);

}  // namespace vitro
