// The forward pass allocates nothing: after a session is made, feeding tokens never asks for memory.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "testing/engine.h"
#include "testing/shared_data.h"

namespace {
std::atomic<bool> g_is_counting{false};
std::atomic<int64_t> g_n_allocations{0};

void* counted(std::size_t n) {
  if (g_is_counting.load(std::memory_order_relaxed)) g_n_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* data = std::malloc(n)) return data;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t n) { return counted(n); }
void* operator new[](std::size_t n) { return counted(n); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return std::malloc(n); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return std::malloc(n); }
void operator delete(void* data) noexcept { std::free(data); }
void operator delete[](void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }
void operator delete[](void* data, std::size_t) noexcept { std::free(data); }

namespace vitro::testing {
namespace {

TEST(NoAllocation, PrefillDecodeAndMixedBatches) {
  for (const char* name : {"llama-gqa", "gpt2", "gpt-neox", "gemma3"}) {
    Bench bench(best_kernel_table(), 2);
    Session session = make_session(load(repo_path(std::string("tests/golden/") + name), bench), 100,
                                   {.n_batch = 16, .n_sequences = 2}, bench);
    const std::vector<int32_t> prompt(40, 7), step{9};
    const std::vector<SequenceInput> both{{0, step}, {1, step}};
    g_n_allocations = 0;
    g_is_counting = true;
    const bool is_fine = session.feed(0, prompt).has_value() && session.feed(0, step).has_value() &&
                         session.feed_batch(both).has_value();
    g_is_counting = false;
    EXPECT_TRUE(is_fine);
    EXPECT_EQ(g_n_allocations.load(), 0) << name;
  }
}

// What the plan says is what is allocated.
TEST(NoAllocation, PlanIsTheAllocation) {
  Bench bench(best_kernel_table(), 1);
  const Session session = make_session(load(repo_path("tests/golden/qwen3"), bench), 50, {.n_batch = 8}, bench);
  EXPECT_EQ(session.cache().n_bytes(), session.plan().cache_bytes);
  EXPECT_EQ(session.plan().cache_bytes,
            4 * (2 * 2 * 24 * 64) * 4);  // layers x (K, V x KV heads x d_head x 4 pages of 16) x 4 bytes
}

}  // namespace
}  // namespace vitro::testing
