// Panels: how weight matrices lie in memory. Sixteen rows (kPanelRows in kernels/table.h) are interleaved so that
// vector lanes are rows: one load brings the same column of sixteen rows. A panel keeps the file's own bits (plus the
// alignment at its end); only their order changes, so packing is lossless and reversible. Layouts:
// tensor/quant_block.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace vitro {

inline constexpr int64_t kRowsPerPanel = 16;

/// Whether matrices of this type can be packed: the types with a block_layout, which all have matmul kernels.
bool has_panel_layout(DType dtype);

/// Bytes of one panel of n_cols columns, a multiple of 64.
int64_t panel_bytes(DType dtype, int64_t n_cols);

/// Interleaves up to sixteen file rows, each row_bytes(dtype, n_cols) long, at any address; null: a row of zeros.
void pack_panel(DType dtype, const std::array<const std::byte*, kRowsPerPanel>& rows, int64_t n_cols, std::byte* panel);

/// Columns first .. first + count - 1 of a row.
struct ColumnRange {
  int64_t first = 0;
  int64_t count = 0;
};

/// out[columns.count] = some columns of row `lane` (0..15) of a panel, whole blocks, as unpack_panel_row gives them.
void unpack_panel_columns(DType dtype, const std::byte* panel, int64_t lane, ColumnRange columns, float* out);

/// out[n_cols] = row `lane` of a panel as float32, de-quantised as the gguf package does, bit for bit. For embedding
/// look-ups.
void unpack_panel_row(DType dtype, const std::byte* panel, int64_t lane, int64_t n_cols, float* out);

/// out[n] = the values of one file row (n = whole blocks): the types of matrices de-quantised bit-equal to the gguf
/// package; F64, integers and BOOL as the nearest float32.
void dequantize_row(DType dtype, const std::byte* row, int64_t n, float* out);
/// Whether dequantize_row knows the type.
bool can_dequantize(DType dtype);

}  // namespace vitro
