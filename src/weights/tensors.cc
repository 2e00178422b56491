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

// The rows of one file tensor: each dense, or where the file stores [in, out], columns that are gathered.
struct SourceRows {
  const std::byte* data = nullptr;
  int64_t row_bytes = 0;
  const RowMap* map = nullptr;
  int64_t element_bytes = 0;  ///< of an element type that is stored [in, out]; 0: rows are dense
  int64_t n_out = 0;

  bool is_transposed() const { return element_bytes > 0; }
  /// `room`: row_bytes for a row that must be gathered, else not looked at.
  const std::byte* row(int64_t idx, std::byte* room) const {
    const int64_t file_row = source_row(*map, idx);
    if (!is_transposed()) return data + file_row * row_bytes;
    const std::byte* from = data + file_row * element_bytes;
    for (int64_t at = 0; at < row_bytes; at += element_bytes, from += n_out * element_bytes) {
      std::memcpy(room + at, from, static_cast<size_t>(element_bytes));
    }
    return room;
  }
};

Result<SourceRows> source_rows(const ConstTensorView& view, const TensorSource& source, int64_t n_cols) {
  const DTypeInfo& info = dtype_info(view.dtype);
  SourceRows rows{view.data, static_cast<int64_t>(row_bytes(view.dtype, static_cast<uint64_t>(n_cols)).value_or(0)),
                  &source.rows};
  if (!source.is_transposed) return rows;
  if (info.block_elements != 1) {
    return fail(ErrorCode::kUnsupported,
                "a transposed matrix of type {} cannot be turned; convert it to F32, F16 or BF16", info.name);
  }
  rows.element_bytes = info.block_bytes;
  rows.n_out = view.shape[1];
  return rows;
}

// Rows that lie in the file as they are packed, so that what is packed is not needed again.
bool is_in_file_order(const SourceRows& rows) {
  const bool is_range = rows.map->kind == RowMap::Kind::kIdentity || rows.map->kind == RowMap::Kind::kRange;
  return is_range && !rows.is_transposed();
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

  /// Room for all vectors, before the first load().
  Status reserve_vectors(int64_t n_bytes) {
    VITRO_TRY_ASSIGN(tensors_.floats_, Buffer::allocate(static_cast<size_t>(n_bytes), "norms and biases"));
    return {};
  }

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
    const ConstTensorView view = checkpoint_.view(*bound.entry);
    VITRO_TRY_ASSIGN(const SourceRows rows, source_rows(view, bound.source(), bound.slot->shape[1]));
    Tensors::Matrix matrix;
    matrix.view = {nullptr, view.dtype, bound.slot->shape[0], bound.slot->shape[1]};
    const int64_t n_bytes = loaded_bytes(SlotUse::kMatrix, view.dtype, bound.slot->shape);
    VITRO_TRY_ASSIGN(matrix.panels, Buffer::allocate(static_cast<size_t>(n_bytes), bound.slot->name.c_str()));
    matrix.view.data = matrix.panels.data();
    const int64_t n_panels = matrix.view.n_panels();
    const int64_t n_slice = std::max(kSliceBytes / (rows.row_bytes * kRowsPerPanel + 1), int64_t{1});
    for (int64_t first = 0; first < n_panels; first += n_slice) {
      const int64_t last = std::min(first + n_slice, n_panels);
      pack(rows, first, last, matrix);
      if (!is_in_file_order(rows)) continue;  // else a large tensor is never in memory twice
      const int64_t n_rows = std::min(last * kRowsPerPanel, matrix.view.n_rows) - first * kRowsPerPanel;
      const int64_t first_row = rows.map->first + first * kRowsPerPanel;
      checkpoint_.release(*bound.entry, static_cast<uint64_t>(first_row * rows.row_bytes),
                          static_cast<uint64_t>(n_rows * rows.row_bytes));
    }
    if (options_.checks_values) {
      if (const int64_t row = find_bad_row(matrix.view, pool_); row >= 0) return bad_value(bound, row);
    }
    tensors_.matrices_.emplace(bound.slot->name, std::move(matrix));
    return {};
  }

  // Panels [first, last).
  void pack(const SourceRows& source, int64_t first, int64_t last, Tensors::Matrix& matrix) {
    const PanelMatrix& view = matrix.view;
    const int64_t stride = panel_bytes(view.dtype, view.n_cols);
    pool_.parallel_for(last - first, 1, "pack", [&](int64_t begin, int64_t end, int) {
      const int64_t room_bytes = source.is_transposed() ? source.row_bytes : 0;  // a dense row stays where it is
      std::vector<std::byte> room(static_cast<size_t>(kRowsPerPanel * room_bytes));
      for (int64_t p = first + begin; p < first + end; ++p) {
        std::array<const std::byte*, kRowsPerPanel> rows{};
        const int64_t n_rows = std::min(kRowsPerPanel, view.n_rows - p * kRowsPerPanel);
        for (int64_t i = 0; i < n_rows; ++i) {
          rows[static_cast<size_t>(i)] = source.row(p * kRowsPerPanel + i, room.data() + i * room_bytes);
        }
        pack_panel(view.dtype, rows, view.n_cols, matrix.panels.data() + p * stride);
      }
    });
  }

  Status load_vector(const BoundTensor& bound) {
    const TensorSource& source = bound.source();
    const ConstTensorView view = checkpoint_.view(*bound.entry);
    std::vector<float> stored(static_cast<size_t>(view.shape.n_elements()));
    dequantize_row(view.dtype, view.data, view.shape.n_elements(), stored.data());
    const std::span<float> values = next_floats(bound.slot->shape.n_elements());
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = stored[static_cast<size_t>(source_row(source.rows, static_cast<int64_t>(i)))];
      if (source.add != 0.0) values[i] = static_cast<float>(values[i] + source.add);
      if (options_.checks_values && !std::isfinite(values[i])) return bad_value(bound, static_cast<int64_t>(i));
    }
    tensors_.vectors_.emplace(bound.slot->name, values);
    return {};
  }

  std::span<float> next_floats(int64_t n) {
    const auto all = std::span(tensors_.floats_.as<float>(), tensors_.floats_.size() / sizeof(float));
    const auto next = all.subspan(static_cast<size_t>(n_floats_), static_cast<size_t>(n));
    n_floats_ += n;
    return next;
  }

  const Checkpoint& checkpoint_;
  const LoadOptions& options_;
  ThreadPool& pool_;
  Tensors tensors_;
  int64_t n_floats_ = 0;  ///< of the vectors so far
};

PanelMatrix Tensors::matrix(std::string_view name) const {
  const auto it = matrices_.find(name);
  return it == matrices_.end() ? PanelMatrix{} : it->second.view;
}

std::span<const float> Tensors::vector(std::string_view name) const {
  const auto it = vectors_.find(name);
  return it == vectors_.end() ? std::span<const float>{} : it->second;
}

int64_t Tensors::n_bytes() const {
  auto n_bytes = static_cast<int64_t>(floats_.size());
  for (const auto& [name, matrix] : matrices_) n_bytes += static_cast<int64_t>(matrix.panels.size());
  return n_bytes;
}

void Tensors::each(const SeeBytes& see) const {
  for (const auto& [name, matrix] : matrices_) see(name, static_cast<int64_t>(matrix.panels.size()));
  for (const auto& [name, values] : vectors_) see(name, static_cast<int64_t>(values.size_bytes()));
}

int64_t loaded_bytes(SlotUse use, DType dtype, const Shape& shape) {
  if (use == SlotUse::kSkipped) return 0;
  if (use == SlotUse::kVector) return shape.n_elements() * static_cast<int64_t>(sizeof(float));
  if (shape.rank() == 3) return shape[0] * loaded_bytes(use, dtype, part_shape(shape));
  return ceil_div(shape[0], kRowsPerPanel) * panel_bytes(dtype, shape[1]);
}

Result<Tensors> load_tensors(const Checkpoint& checkpoint, std::span<const BoundTensor> bound,
                             const LoadOptions& options, ThreadPool& pool) {
  int64_t n_total = 0, n_done = 0, n_loaded = 0, n_vectors = 0;
  for (const BoundTensor& tensor : bound) {
    n_total += static_cast<int64_t>(tensor.entry->end - tensor.entry->begin);
    const int64_t n_bytes = loaded_bytes(tensor.slot->use, tensor.entry->dtype, tensor.shape());
    n_loaded += n_bytes;
    if (tensor.slot->use == SlotUse::kVector) n_vectors += n_bytes;
  }
  VITRO_TRY(check_memory(n_loaded, "the weights"));
  TensorLoader loader(checkpoint, options, pool);
  VITRO_TRY(loader.reserve_vectors(n_vectors));
  for (const BoundTensor& tensor : bound) {
    VITRO_TRY(loader.load(tensor));
    n_done += static_cast<int64_t>(tensor.entry->end - tensor.entry->begin);
    if (options.progress) options.progress(n_done, n_total);
  }
  return loader.take();
}

}  // namespace vitro
