#include "weights/tensors.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>

#include "base/checked_math.h"
#include "base/memory.h"

namespace vitro {
namespace {

// File bytes packed between two releases of file pages.
constexpr int64_t kSliceBytes = int64_t{4} << 20;

// The rows of one file tensor, in the file's order, each dense.
struct SourceRows {
  const std::byte* data = nullptr;
  int64_t row_bytes = 0;
  const RowMap* map = nullptr;

  const std::byte* row(int64_t idx) const { return data + source_row(*map, idx) * row_bytes; }
};

// [in, out] -> [out, in] for element types; so that rows are outputs.
Result<Buffer> transposed(const ConstTensorView& view) {
  const DTypeInfo& info = dtype_info(view.dtype);
  if (info.block_elements != 1) {
    return fail(ErrorCode::kUnsupported,
                "a transposed matrix of type {} cannot be turned; convert it to F32, F16 or BF16", info.name);
  }
  const int64_t n_in = view.shape[0], n_out = view.shape[1], size = info.block_bytes;
  VITRO_TRY_ASSIGN(Buffer out, Buffer::allocate(static_cast<size_t>(n_in * n_out * size), "a transposed weight"));
  for (int64_t r = 0; r < n_out; ++r) {
    for (int64_t c = 0; c < n_in; ++c) {
      std::memcpy(out.data() + (r * n_in + c) * size, view.data + (c * n_out + r) * size, static_cast<size_t>(size));
    }
  }
  return out;
}

// First row that holds a value that is not finite, or -1.
int64_t find_bad_row(const PanelMatrix& matrix, ThreadPool& pool) {
  std::atomic<int64_t> bad_row{matrix.n_rows};
  pool.parallel_for(matrix.n_rows, 64, "check_weights", [&](int64_t begin, int64_t end, int) {
    std::vector<float> values(static_cast<size_t>(matrix.n_cols));
    for (int64_t r = begin; r < end && r < bad_row.load(); ++r) {
      unpack_panel_row(matrix.dtype, matrix.panel(r / kRowsPerPanel), r % kRowsPerPanel, matrix.n_cols, values.data());
      if (std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); })) continue;
      for (int64_t least = bad_row.load(); r < least && !bad_row.compare_exchange_weak(least, r);) {
      }
    }
  });
  return bad_row.load() < matrix.n_rows ? bad_row.load() : -1;
}

Status bad_value(const BoundTensor& bound, int64_t row) {
  return fail(ErrorCode::kCorrupt,
              "tensor '{}' ({}), row {}: holds NaN or infinity; the file is damaged or the model diverged",
              bound.entry->name, bound.slot->name, row);
}

}  // namespace

class TensorLoader {
 public:
  TensorLoader(const Checkpoint& checkpoint, const LoadOptions& options, ThreadPool& pool)
      : checkpoint_(checkpoint), options_(options), pool_(pool) {}

  Status load(const BoundTensor& bound) {
    if (bound.slot->is_stacked()) {
      return fail(ErrorCode::kUnsupported, "'{}': stacked tensors cannot be loaded yet", bound.slot->name);
    }
    VITRO_TRY(bound.slot->use == SlotUse::kMatrix ? load_matrix(bound) : load_vector(bound));
    checkpoint_.release(*bound.entry, 0, bound.entry->end - bound.entry->begin);
    return {};
  }

  Tensors take() { return std::move(tensors_); }

 private:
  Status load_matrix(const BoundTensor& bound) {
    const TensorSource& source = bound.source();
    ConstTensorView view = checkpoint_.view(*bound.entry);
    Buffer turned;
    if (source.is_transposed) {
      VITRO_TRY_ASSIGN(turned, transposed(view));
      view.data = turned.data();
    }
    Tensors::Matrix matrix;
    matrix.view = {nullptr, view.dtype, bound.slot->shape[0], bound.slot->shape[1]};
    const int64_t n_bytes = loaded_bytes(SlotUse::kMatrix, view.dtype, bound.slot->shape);
    VITRO_TRY_ASSIGN(matrix.panels, Buffer::allocate(static_cast<size_t>(n_bytes), bound.slot->name.c_str()));
    matrix.view.data = matrix.panels.data();
    const auto stored_row =
        static_cast<int64_t>(row_bytes(view.dtype, static_cast<uint64_t>(matrix.view.n_cols)).value_or(0));
    const int64_t n_panels = matrix.view.n_panels();
    const int64_t n_slice = std::max(kSliceBytes / (stored_row * kRowsPerPanel + 1), int64_t{1});
    for (int64_t first = 0; first < n_panels; first += n_slice) {
      const int64_t last = std::min(first + n_slice, n_panels);
      pack({view.data, stored_row, &source.rows}, first, last, matrix);
      // Rows in file order: what is packed is not needed again, so a large tensor is never in memory twice.
      if (source.rows.kind != RowMap::Kind::kIdentity || source.is_transposed) continue;
      const int64_t n_rows = std::min(last * kRowsPerPanel, matrix.view.n_rows) - first * kRowsPerPanel;
      checkpoint_.release(*bound.entry, static_cast<uint64_t>(first * kRowsPerPanel * stored_row),
                          static_cast<uint64_t>(n_rows * stored_row));
    }
    if (options_.checks_values) {
      if (const int64_t row = find_bad_row(matrix.view, pool_); row >= 0) return bad_value(bound, row);
    }
    tensors_.n_bytes_ += n_bytes;
    tensors_.matrices_.emplace(bound.slot->name, std::move(matrix));
    return {};
  }

  // Panels [first, last).
  void pack(const SourceRows& source, int64_t first, int64_t last, Tensors::Matrix& matrix) {
    const PanelMatrix& view = matrix.view;
    const int64_t stride = panel_bytes(view.dtype, view.n_cols);
    pool_.parallel_for(last - first, 1, "pack", [&](int64_t begin, int64_t end, int) {
      for (int64_t p = first + begin; p < first + end; ++p) {
        std::array<const std::byte*, kRowsPerPanel> rows{};
        const int64_t n_rows = std::min(kRowsPerPanel, view.n_rows - p * kRowsPerPanel);
        for (int64_t i = 0; i < n_rows; ++i) rows[static_cast<size_t>(i)] = source.row(p * kRowsPerPanel + i);
        pack_panel(view.dtype, rows, view.n_cols, matrix.panels.data() + p * stride);
      }
    });
  }

  Status load_vector(const BoundTensor& bound) {
    const TensorSource& source = bound.source();
    const ConstTensorView view = checkpoint_.view(*bound.entry);
    std::vector<float> stored(static_cast<size_t>(view.shape.n_elements()));
    dequantize_row(view.dtype, view.data, view.shape.n_elements(), stored.data());
    std::vector<float> values(static_cast<size_t>(bound.slot->shape.n_elements()));
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = stored[static_cast<size_t>(source_row(source.rows, static_cast<int64_t>(i)))];
      if (source.add != 0.0) values[i] = static_cast<float>(values[i] + source.add);
      if (options_.checks_values && !std::isfinite(values[i])) return bad_value(bound, static_cast<int64_t>(i));
    }
    tensors_.n_bytes_ += static_cast<int64_t>(values.size() * sizeof(float));
    tensors_.vectors_.emplace(bound.slot->name, std::move(values));
    return {};
  }

  const Checkpoint& checkpoint_;
  const LoadOptions& options_;
  ThreadPool& pool_;
  Tensors tensors_;
};

PanelMatrix Tensors::matrix(std::string_view name) const {
  const auto it = matrices_.find(name);
  return it == matrices_.end() ? PanelMatrix{} : it->second.view;
}

std::span<const float> Tensors::vector(std::string_view name) const {
  const auto it = vectors_.find(name);
  return it == vectors_.end() ? std::span<const float>{} : std::span<const float>(it->second);
}

int64_t loaded_bytes(SlotUse use, DType dtype, const Shape& shape) {
  if (use == SlotUse::kSkipped) return 0;
  if (use == SlotUse::kVector) return shape.n_elements() * static_cast<int64_t>(sizeof(float));
  if (shape.rank() == 3) return shape[0] * loaded_bytes(use, dtype, part_shape(shape));
  return ceil_div(shape[0], kRowsPerPanel) * panel_bytes(dtype, shape[1]);
}

Result<Tensors> load_tensors(const Checkpoint& checkpoint, std::span<const BoundTensor> bound,
                             const LoadOptions& options, ThreadPool& pool) {
  int64_t n_total = 0, n_done = 0, n_loaded = 0;
  for (const BoundTensor& tensor : bound) {
    n_total += static_cast<int64_t>(tensor.entry->end - tensor.entry->begin);
    n_loaded += loaded_bytes(tensor.slot->use, tensor.entry->dtype, tensor.shape());
  }
  VITRO_TRY(check_memory(n_loaded, "the weights"));
  TensorLoader loader(checkpoint, options, pool);
  for (const BoundTensor& tensor : bound) {
    VITRO_TRY(loader.load(tensor));
    n_done += static_cast<int64_t>(tensor.entry->end - tensor.entry->begin);
    if (options.progress) options.progress(n_done, n_total);
  }
  return loader.take();
}

}  // namespace vitro
