// What whole-engine tests share: opening a model with a chosen table and thread count, and running ids in chosen ways.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/checkpoint.h"
#include "generate/session.h"
#include "model/arch/architecture.h"
#include "testing/temp_folder.h"
#include "weights/bind.h"

namespace vitro::testing {

/// Kernel tables of this machine, best first.
inline std::vector<const KernelTable*> all_tables() {
  std::vector<const KernelTable*> tables;
  for (const char* name : {"avx512", "avx2", "v2", "reference"}) {
    if (const KernelTable* table = find_kernel_table(name)) tables.push_back(table);
  }
  return tables;
}

/// Threads and kernels of one test.
struct Bench {
  ThreadPool pool;
  OpContext ctx;
  explicit Bench(const KernelTable& table, int n_threads = 1) : pool(n_threads), ctx{&table, &pool} {}
};

inline std::shared_ptr<const Model> load(const std::filesystem::path& path, Bench& bench) {
  const auto checkpoint = Checkpoint::open(path);
  if (!checkpoint) {
    ADD_FAILURE() << checkpoint.error().message;
    return nullptr;
  }
  auto model = load_model(*checkpoint, {}, bench.pool);
  if (!model) ADD_FAILURE() << model.error().message;
  return model ? *model : nullptr;
}

/// The same with another description over the weights: `turn(config)` must leave their shapes alone.
template <class Turn>
std::shared_ptr<const Model> load_turned(const std::filesystem::path& path, Bench& bench, Turn turn) {
  const Checkpoint checkpoint = std::move(Checkpoint::open(path)).value();
  ModelDescription description = std::move(describe_model(checkpoint)).value();
  turn(description.config);
  const auto slots = description.arch->tensor_slots(checkpoint.format(), description.config);
  const auto bound = bind_tensors(checkpoint, slots, description.arch->ignorable_tensors).value();
  return assemble_model(description.config, std::move(load_tensors(checkpoint, bound, {}, bench.pool)).value());
}

/// How to run.
struct RunShape {
  int64_t n_batch = 256;  ///< rows a pass
  int64_t page_size = 16;
  int64_t n_sequences = 1;
  CacheType cache_type = CacheType::kF32;
  bool keeps_only_windows = false;
};

inline Session make_session(std::shared_ptr<const Model> model, int64_t n_ctx, const RunShape& run, Bench& bench) {
  SessionShape shape;
  shape.n_ctx = n_ctx;
  shape.n_batch = run.n_batch;
  shape.n_logits = run.n_batch;
  shape.page_size = run.page_size;
  shape.n_sequences = run.n_sequences;
  shape.cache_type = run.cache_type;
  shape.keeps_only_windows = run.keeps_only_windows;
  shape.n_threads = bench.pool.n_threads();
  return std::move(Session::create(std::move(model), shape, bench.ctx).value());
}

/// Logits of every row, [n_ids, vocab_size].
inline std::vector<float> all_logits(Session& session, std::span<const int32_t> ids) {
  std::vector<float> out;
  session.begin(0, {.prompt_len = std::ssize(ids)});
  const Status status = session.feed_all(0, ids, [&](int64_t, const Rows& rows) {
    out.insert(out.end(), rows.data, rows.data + rows.n_rows * rows.width);
  });
  EXPECT_TRUE(status.has_value());
  return out;
}

/// Equal to the last bit, NaN included.
inline ::testing::AssertionResult same_bits(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << a.size() << " values against " << b.size();
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0) {
      return ::testing::AssertionFailure() << "value " << i << ": " << a[i] << " against " << b[i];
    }
  }
  return ::testing::AssertionSuccess();
}

/// Every type of the cache.
inline std::vector<CacheType> all_cache_types() {
  std::vector<CacheType> types;
  for (int i = 0; i < kNCacheTypes; ++i) types.push_back(static_cast<CacheType>(i));
  return types;
}

}  // namespace vitro::testing
