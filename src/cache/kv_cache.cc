#include "cache/kv_cache.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "base/check.h"
#include "base/checked_math.h"
#include "base/held_bytes.h"
#include "tensor/transpose.h"

namespace vitro {
namespace {

// Positions that one step of append takes: within a page, because page sizes are multiples of eight.
constexpr int64_t kRun = 8;

constexpr int64_t kScaleBytes = 2;                  // float16
constexpr uint64_t kMostBytes = uint64_t{1} << 62;  // leaves room to add other memory in 64 bits

// Where the parts of a layer's page begin, in bytes.
struct PageLayout {
  int64_t n_kv_head;
  int64_t d_head;
  int64_t page_size;
  int64_t element_bytes;
  int64_t scale_block;
  int64_t n_scales;  ///< of one head at one position

  int64_t row_bytes() const { return d_head * element_bytes; }
  int64_t row_scale_bytes() const { return n_scales * kScaleBytes; }
  int64_t k(int64_t head) const { return head * page_size * row_bytes(); }
  int64_t v(int64_t head) const { return k(n_kv_head + head); }
  int64_t k_scales(int64_t head) const { return k(2 * n_kv_head) + head * page_size * row_scale_bytes(); }
  int64_t v_scales(int64_t head) const { return k_scales(n_kv_head + head); }
  int64_t n_bytes() const { return round_up(k_scales(2 * n_kv_head), kKvPageAlignment); }
};

PageLayout page_layout(const KvCacheSpec& spec, const KvLayerShape& layer) {
  return {layer.n_kv_head,
          layer.d_head,
          spec.page_size,
          cache_type_info(spec.type).element_bytes,
          cache_scale_block(spec.type, layer.d_head),
          cache_n_scales(spec.type, layer.d_head)};
}

// Where one head's positions from one column of a page on go.
struct HeadRun {
  std::byte* k;  ///< [d_head, page_size], at the column
  std::byte* v;  ///< [page_size, d_head], at the column's row
  std::byte* k_scales;
  std::byte* v_scales;
};

HeadRun head_run(const PageLayout& layout, std::byte* page, int64_t head, int64_t column) {
  return {page + layout.k(head) + column * layout.element_bytes, page + layout.v(head) + column * layout.row_bytes(),
          page + layout.k_scales(head) + column * kScaleBytes,
          page + layout.v_scales(head) + column * layout.row_scale_bytes()};
}

using EncodeFn = void (*)(const EncodeArgs&) noexcept;

void encode_rows(const PageLayout& layout, ConstRows rows, const HeadRun& run, EncodeFn encode) {
  for (int64_t t = 0; t < rows.n_rows; ++t) {
    encode({rows.row(t), layout.d_head, layout.scale_block, run.v + t * layout.row_bytes(),
            run.v_scales + t * layout.row_scale_bytes()});
  }
}

// Keys are rounded in the place of their values, where they lie in rows, and transposed from there.
void write_run(const PageLayout& layout, const HeadRun& run, ConstRows k, ConstRows v, EncodeFn encode) {
  encode_rows(layout, k, run, encode);
  transpose_elements(layout.element_bytes, run.v, k.n_rows, layout.d_head, run.k, layout.page_size);
  transpose_elements(kScaleBytes, run.v_scales, k.n_rows, layout.n_scales, run.k_scales, layout.page_size);
  encode_rows(layout, v, run, encode);
}

Status check_heads(const KvCacheSpec& spec) {
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const int64_t d_head = spec.layers[i].d_head, block = cache_scale_block(spec.type, d_head);
    if (block == 0 || d_head % block == 0) continue;
    return fail(ErrorCode::kInvalidArgument,
                "cache type {} has a scale for {} values, the heads of layer {} have {}: expected a multiple of {}; "
                "int8, fp8 and f16 take heads of any width",
                cache_type_info(spec.type).name, block, i, d_head, block);
  }
  return {};
}

}  // namespace

Status check_page_size(int64_t page_size) {
  if (page_size >= 8 && page_size <= kMaxPageSize && page_size % 8 == 0) return {};
  return fail(ErrorCode::kInvalidArgument, "cache page size {}: expected a multiple of 8 from 8 to {} (--page-size)",
              page_size, kMaxPageSize);
}

int64_t kv_page_bytes(const KvCacheSpec& spec, const KvLayerShape& layer) { return page_layout(spec, layer).n_bytes(); }

int64_t kv_position_bytes(const KvCacheSpec& spec) {
  int64_t n_bytes = 0;
  for (const KvLayerShape& layer : spec.layers) {
    n_bytes += 2 * layer.n_kv_head * cache_row_bytes(spec.type, layer.d_head);
  }
  return n_bytes;
}

Result<int64_t> kv_cache_bytes(const KvCacheSpec& spec) {
  VITRO_TRY(check_page_size(spec.page_size));
  VITRO_TRY(check_heads(spec));
  std::optional<uint64_t> n_bytes = 0;
  for (const KvLayerShape& layer : spec.layers) {
    const int64_t n_pages = spec.groups[static_cast<size_t>(layer.group)].n_pages;
    const auto layer_bytes =
        checked_mul(static_cast<uint64_t>(kv_page_bytes(spec, layer)), static_cast<uint64_t>(n_pages));
    if (n_bytes && layer_bytes) n_bytes = checked_add(*n_bytes, *layer_bytes);
    const bool has_size = layer_bytes && n_bytes && *n_bytes <= kMostBytes;
    if (!has_size || n_pages > std::numeric_limits<int32_t>::max()) {
      return fail(ErrorCode::kInvalidArgument,
                  "a key-value cache of {} pages of {} positions is more than can be numbered; ask for less with "
                  "--context or larger pages with --page-size",
                  n_pages, spec.page_size);
    }
  }
  return static_cast<int64_t>(*n_bytes);
}

int64_t kv_table_bytes(const KvCacheSpec& spec) {
  const auto n_layer = std::ssize(spec.layers), n_group = std::ssize(spec.groups);
  int64_t n_bytes = n_layer * static_cast<int64_t>(sizeof(KvLayerShape) + sizeof(int64_t)) +
                    n_group * static_cast<int64_t>(sizeof(PageGroupShape) + sizeof(PageGroup)) +
                    spec.n_sequences * static_cast<int64_t>(sizeof(int64_t));
  for (const PageGroupShape& group : spec.groups) {
    n_bytes += PageGroup::table_bytes(group, spec.page_size, spec.n_sequences, spec.n_positions);
  }
  return n_bytes;
}

Result<KvCache> KvCache::allocate(const KvCacheSpec& spec) {
  VITRO_TRY_ASSIGN(const int64_t n_bytes, kv_cache_bytes(spec));
  KvCache cache;
  cache.spec_ = spec;
  VITRO_TRY_ASSIGN(cache.storage_, Buffer::allocate(static_cast<size_t>(n_bytes), "the key-value cache"));
  cache.layer_offset_.reserve(spec.layers.size());
  cache.groups_.reserve(spec.groups.size());
  int64_t offset = 0;
  for (const KvLayerShape& layer : spec.layers) {
    cache.layer_offset_.push_back(offset);
    offset += spec.groups[static_cast<size_t>(layer.group)].n_pages * kv_page_bytes(spec, layer);
  }
  for (const PageGroupShape& group : spec.groups) {
    cache.groups_.emplace_back(group, spec.page_size, spec.n_sequences, spec.n_positions);
  }
  cache.lengths_.resize(static_cast<size_t>(spec.n_sequences));
  return cache;
}

int64_t KvCache::n_table_bytes() const {
  int64_t n_bytes = held_bytes(spec_.layers) + held_bytes(spec_.groups) + held_bytes(layer_offset_) +
                    held_bytes(groups_) + held_bytes(lengths_);
  for (const PageGroup& group : groups_) n_bytes += group.n_bytes();
  return n_bytes;
}

Status KvCache::reserve(SequenceId sequence, int64_t n_positions) {
  VITRO_CHECK(sequence >= 0 && sequence < spec_.n_sequences && n_positions <= spec_.n_positions);
  int64_t& length = lengths_[static_cast<size_t>(sequence)];
  if (n_positions <= length) return {};
  for (const PageGroup& group : groups_) {
    const int64_t n_missing = group.n_missing(sequence, length, n_positions);
    if (n_missing == 0) continue;
    return fail(ErrorCode::kOutOfMemory, "the key-value cache has {} free pages of {} positions, {} more are needed",
                group.n_free_pages(), spec_.page_size, n_missing);
  }
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (const auto copy = groups_[i].grow(sequence, length, n_positions)) copy_page(static_cast<int64_t>(i), *copy);
  }
  length = n_positions;
  return {};
}

bool KvCache::can_resume(SequenceId sequence, int64_t n_positions) const {
  if (n_positions == 0) return true;
  const auto has_window = [&](const PageGroup& group) { return group.can_resume(sequence, n_positions); };
  return n_positions <= length(sequence) && std::all_of(groups_.begin(), groups_.end(), has_window);
}

void KvCache::truncate(SequenceId sequence, int64_t n_positions) {
  int64_t& length = lengths_[static_cast<size_t>(sequence)];
  if (n_positions >= length) return;
  VITRO_CHECK(can_resume(sequence, n_positions));
  for (PageGroup& group : groups_) group.truncate(sequence, n_positions);
  length = n_positions;
}

void KvCache::share(SequenceId from, SequenceId to, int64_t n_positions) {
  VITRO_CHECK(from != to && length(to) == 0 && can_resume(from, n_positions));
  for (PageGroup& group : groups_) group.share(from, to, n_positions);
  lengths_[static_cast<size_t>(to)] = n_positions;
}

void KvCache::copy_page(int64_t group, PageCopy copy) {
  for (size_t i = 0; i < spec_.layers.size(); ++i) {
    if (spec_.layers[i].group != group) continue;
    const int64_t n_bytes = kv_page_bytes(spec_, spec_.layers[i]);
    std::byte* pages = storage_.data() + layer_offset_[i];
    std::memcpy(pages + copy.to * n_bytes, pages + copy.from * n_bytes, static_cast<size_t>(n_bytes));
  }
}

KvHead KvCache::head(int64_t layer, SequenceId sequence, int64_t kv_head) const {
  const KvLayerShape& shape = spec_.layers[static_cast<size_t>(layer)];
  const PageLayout layout = page_layout(spec_, shape);
  const std::byte* base = storage_.data() + layer_offset_[static_cast<size_t>(layer)];
  const bool has_scales = layout.n_scales > 0;
  return {.k_base = base + layout.k(kv_head),
          .v_base = base + layout.v(kv_head),
          .k_scales = has_scales ? base + layout.k_scales(kv_head) : nullptr,
          .v_scales = has_scales ? base + layout.v_scales(kv_head) : nullptr,
          .page_ids = groups_[static_cast<size_t>(shape.group)].page_ids(sequence),
          .page_stride = layout.n_bytes(),
          .page_size = spec_.page_size,
          .d_head = shape.d_head,
          .scale_block = cache_scale_block(spec_.type, shape.d_head)};
}

void KvCache::append(int64_t layer, SequenceId sequence, int64_t first_pos, ConstRows k, ConstRows v, OpContext& ctx) {
  const KvLayerShape& shape = spec_.layers[static_cast<size_t>(layer)];
  const PageLayout layout = page_layout(spec_, shape);
  const int32_t* page_ids = groups_[static_cast<size_t>(shape.group)].page_ids(sequence);
  std::byte* base = storage_.data() + layer_offset_[static_cast<size_t>(layer)];
  const EncodeFn encode = ctx.kernels->encode[static_cast<int>(spec_.type)];
  const int64_t end_pos = first_pos + k.n_rows, first_run = first_pos / kRun;
  VITRO_DCHECK(first_pos >= 0 && end_pos <= length(sequence));
  ctx.pool->parallel_for(ceil_div(end_pos, kRun) - first_run, 1, "append", [&](int64_t begin, int64_t end, int) {
    for (int64_t run = first_run + begin; run < first_run + end; ++run) {
      const int64_t pos = std::max(run * kRun, first_pos);
      const int64_t n = std::min((run + 1) * kRun, end_pos) - pos;
      std::byte* page = base + page_ids[pos / spec_.page_size] * layout.n_bytes();
      for (int64_t g = 0; g < shape.n_kv_head; ++g) {
        const HeadRun place = head_run(layout, page, g, pos % spec_.page_size);
        const ConstRows k_rows(k.row(pos - first_pos) + g * shape.d_head, n, shape.d_head, k.stride);
        const ConstRows v_rows(v.row(pos - first_pos) + g * shape.d_head, n, shape.d_head, v.stride);
        write_run(layout, place, k_rows, v_rows, encode);
      }
    }
  });
}

}  // namespace vitro
