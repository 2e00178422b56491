// The tensors that one block's forward leaves for its backward, as data: what training_activations sums up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/config.h"
#include "plan/item.h"
#include "plan/training_activations.h"

namespace vitro {

struct SavedTensor {
  std::string name;
  std::vector<Factor> width = {};  ///< elements of a row, on this rank
  int64_t element_bytes = 2;
  bool is_source = false;    ///< rows of the encoder's output, not of this stack
  bool is_sequence = false;  ///< whole on every tensor-parallel rank unless sequence parallelism divides the rows
  bool is_dropped = false;   ///< not kept: made again from others before it is needed
};

/// What is wanted for the gradients that the question asks for, dropped tensors included.
std::vector<SavedTensor> saved_tensors(const ActivationQuestion& question, const BlockSpec& block, bool is_encoder);

/// n / by, rounded up; saturated stays so.
int64_t divided_up(int64_t n, int64_t by);
/// Rows of one micro-batch as factors, divided where sequence parallelism does so.
std::vector<Factor> row_factors(const ActivationQuestion& question, bool is_source, bool is_sequence);
/// counts x rows x width x bytes.
PlanItem rows_item(std::string name, std::vector<Factor> counts, const std::vector<Factor>& rows,
                   const std::vector<Factor>& width, int64_t element_bytes);
/// Kept or dropped tensors of a block, `counts` times.
std::vector<PlanItem> tensor_items(const ActivationQuestion& question, const BlockSpec& block, bool is_encoder,
                                   const std::vector<Factor>& counts, bool is_dropped);

}  // namespace vitro
