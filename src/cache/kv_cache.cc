#include "cache/kv_cache.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "base/checked_math.h"

namespace vitro {
namespace {

int64_t page_floats(const KvLayerShape& layer, int64_t page_size) {
  return 2 * layer.n_kv_head * layer.d_head * page_size;
}

}  // namespace

Status check_page_size(int64_t page_size) {
  if (page_size >= 8 && page_size <= kMaxPageSize && page_size % 8 == 0) return {};
  return fail(ErrorCode::kInvalidArgument, "cache page size {}: expected a multiple of 8 from 8 to {}", page_size,
              kMaxPageSize);
}

Result<int64_t> kv_cache_bytes(const KvCacheSpec& spec) {
  VITRO_TRY(check_page_size(spec.page_size));
  std::optional<uint64_t> n_bytes = 0;
  for (const KvLayerShape& layer : spec.layers) {
    const auto layer_bytes = checked_mul(static_cast<uint64_t>(page_floats(layer, spec.page_size)) * sizeof(float),
                                         static_cast<uint64_t>(spec.n_pages));
    if (n_bytes && layer_bytes) n_bytes = checked_add(*n_bytes, *layer_bytes);
    if (!layer_bytes || !n_bytes || *n_bytes > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return fail(ErrorCode::kInvalidArgument, "a key-value cache of {} pages of {} positions has no size in 64 bits",
                  spec.n_pages, spec.page_size);
    }
  }
  return static_cast<int64_t>(*n_bytes);
}

int64_t pages_for(int64_t n_positions, int64_t page_size) { return ceil_div(n_positions, page_size); }

Result<KvCache> KvCache::allocate(const KvCacheSpec& spec) {
  VITRO_TRY_ASSIGN(const int64_t n_bytes, kv_cache_bytes(spec));
  KvCache cache;
  cache.spec_ = spec;
  VITRO_TRY_ASSIGN(cache.storage_, Buffer::allocate(static_cast<size_t>(n_bytes), "the key-value cache"));
  int64_t offset = 0;
  for (const KvLayerShape& layer : spec.layers) {
    cache.layer_offset_.push_back(offset);
    offset += spec.n_pages * page_floats(layer, spec.page_size);
  }
  cache.free_pages_.resize(static_cast<size_t>(spec.n_pages));
  std::iota(cache.free_pages_.rbegin(), cache.free_pages_.rend(), 0);  // page 0 is taken first
  cache.page_tables_.resize(static_cast<size_t>(spec.n_sequences));
  for (auto& table : cache.page_tables_) table.reserve(static_cast<size_t>(spec.n_pages));
  return cache;
}

Status KvCache::reserve(SequenceId sequence, int64_t n_positions) {
  VITRO_CHECK(sequence >= 0 && sequence < spec_.n_sequences);
  auto& table = page_tables_[static_cast<size_t>(sequence)];
  const int64_t n_wanted = pages_for(n_positions, spec_.page_size) - static_cast<int64_t>(table.size());
  if (n_wanted > n_free_pages()) {
    return fail(ErrorCode::kOutOfMemory, "the key-value cache has {} free pages of {} positions, {} more are needed",
                n_free_pages(), spec_.page_size, n_wanted);
  }
  for (int64_t i = 0; i < n_wanted; ++i) {
    table.push_back(free_pages_.back());
    free_pages_.pop_back();
  }
  return {};
}

void KvCache::truncate(SequenceId sequence, int64_t n_positions) {
  auto& table = page_tables_[static_cast<size_t>(sequence)];
  const auto n_kept = static_cast<size_t>(pages_for(n_positions, spec_.page_size));
  while (table.size() > n_kept) {
    free_pages_.push_back(table.back());
    table.pop_back();
  }
}

KvHead KvCache::head(int64_t layer, SequenceId sequence, int64_t kv_head) const {
  const KvLayerShape& shape = spec_.layers[static_cast<size_t>(layer)];
  const int64_t head_floats = shape.d_head * spec_.page_size;
  const float* base = storage_.as<const float>() + layer_offset_[static_cast<size_t>(layer)];
  return {.k_base = reinterpret_cast<const std::byte*>(base + kv_head * head_floats),
          .v_base = reinterpret_cast<const std::byte*>(base + (shape.n_kv_head + kv_head) * head_floats),
          .page_ids = page_tables_[static_cast<size_t>(sequence)].data(),
          .page_stride = page_floats(shape, spec_.page_size) * static_cast<int64_t>(sizeof(float)),
          .page_size = spec_.page_size,
          .d_head = shape.d_head};
}

void KvCache::write(int64_t layer, SequenceId sequence, int64_t pos, const float* k, const float* v) {
  const KvLayerShape& shape = spec_.layers[static_cast<size_t>(layer)];
  const auto& table = page_tables_[static_cast<size_t>(sequence)];
  const int64_t column = pos % spec_.page_size;
  VITRO_DCHECK(pos >= 0 && pos / spec_.page_size < static_cast<int64_t>(table.size()));
  const int64_t page = table[static_cast<size_t>(pos / spec_.page_size)];
  float* base =
      storage_.as<float>() + layer_offset_[static_cast<size_t>(layer)] + page * page_floats(shape, spec_.page_size);
  const int64_t head_floats = shape.d_head * spec_.page_size;
  for (int64_t g = 0; g < shape.n_kv_head; ++g) {
    float* k_page = base + g * head_floats;
    float* v_page = base + (shape.n_kv_head + g) * head_floats;
    for (int64_t i = 0; i < shape.d_head; ++i) k_page[i * spec_.page_size + column] = k[g * shape.d_head + i];
    std::copy_n(v + g * shape.d_head, shape.d_head, v_page + column * shape.d_head);
  }
}

void KvCache::append(int64_t layer, SequenceId sequence, int64_t first_pos, ConstRows k, ConstRows v, OpContext& ctx) {
  constexpr int64_t kGrain = 8;
  ctx.pool->parallel_for(k.n_rows, kGrain, "append", [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) write(layer, sequence, first_pos + t, k.row(t), v.row(t));
  });
}

}  // namespace vitro
