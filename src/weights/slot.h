// TensorSlot: one tensor of a model as the engine names it, where each file format keeps it, and how the file's layout
// becomes ours. Transforms are data and reversible, so that loading, saving and inspecting agree about rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/checkpoint.h"
#include "tensor/shape.h"

namespace vitro {

/// How rows of a file's tensor become rows of ours. "Rows" are the outermost dimension; a vector of n values has n rows
/// of one.
struct RowMap {
  enum class Kind : uint8_t {
    kIdentity,
    kRange,    ///< rows [first, first + n): fused tensors that stack blocks (q | k | v, gate | up), position offsets
    kPerHead,  ///< our row h * d + i is file row h * stride + first + i: fused tensors that interleave by head
    kRopeUnpermute,  ///< file rows are in adjacent-pair order, ours in halves: per head of d rows, our j*d/2 + i is
                     ///< file 2i + j
  };
  Kind kind = Kind::kIdentity;
  int64_t first = 0;
  int64_t d = 0;       ///< rows a head
  int64_t stride = 0;  ///< file rows from head to head (kPerHead)
};

/// File row of our row `row`. Only for a map that is_row_map_inside accepts.
int64_t source_row(const RowMap& map, int64_t row);

/// Whether our rows [0, n_rows) come from different file rows, all of them in [0, n_file_rows): a map built from sizes
/// that a file names may not be believed. kPerHead and kRopeUnpermute also need whole heads.
bool is_row_map_inside(const RowMap& map, int64_t n_rows, int64_t n_file_rows);

/// One place a tensor may be found.
struct TensorSource {
  std::string name = {};  ///< exact name in the file; with is_one_by_one "{}" stands for the number
  Shape shape = {};       ///< shape the file must have; a vector may come out of a matrix, read as one long row
  RowMap rows = {};
  bool is_transposed = false;  ///< the file stores [in, out] (before `rows` applies)
  double add = 0.0;            ///< added to each value (undoes folds); only for float vectors
  /// Of a stacked slot: a tensor for each of the stacked parts, numbered from 0; `shape` is that of one.
  bool is_one_by_one = false;
};

/// What the tensor is for: matrices go into panels, vectors become float32. kSkipped: every tensor whose name begins
/// with the name of the source is left alone; the slot's name says what they are.
enum class SlotUse : uint8_t { kMatrix, kVector, kSkipped };

struct TensorSlot {
  std::string name = {};  ///< ours: "blocks.3.attn.w_q", "embed.w", "final_norm.gain"
  /// Ours: [rows, cols] for a matrix, [n] for a vector. Stacked slots (experts) have one dimension more in front;
  /// sources that hold all parts too, and `rows` and `is_transposed` act in each part by itself.
  Shape shape = {};
  SlotUse use = SlotUse::kMatrix;
  std::vector<TensorSource> sources = {};  ///< tried in order; the first whose name is in the file is taken
  bool is_optional = false;                ///< absence is fine (RoPE factors; a tied head that files may repeat)
  bool is_parameter = true;  ///< false: a table that gradients do not reach (RoPE factors, BART's bias of the logits)

  bool is_stacked() const { return shape.rank() == (use == SlotUse::kMatrix ? 3 : 2); }
};

/// Without the outermost dimension: of one part of a stacked slot.
Shape part_shape(const Shape& stacked);
/// Name of the source's tensor: with is_one_by_one the one of that part.
std::string source_name(const TensorSource& source, int64_t part);

}  // namespace vitro
