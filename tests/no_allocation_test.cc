// The forward pass allocates nothing: after a session is made, feeding tokens never asks for memory.
#define VITRO_DEFINE_COUNTED_MEMORY
#include <gtest/gtest.h>

#include "testing/counted_memory.h"

// The first include defines operator new; the others follow it.
#include "testing/engine.h"
#include "testing/shared_data.h"

namespace vitro::testing {
namespace {

TEST(NoAllocation, PrefillDecodeAndMixedBatches) {
  for (const char* name : {"llama-gqa", "gpt2", "gpt-neox", "gemma3"}) {
    Bench bench(best_kernel_table(), 2);
    Session session = make_session(load(repo_path(std::string("tests/golden/") + name), bench), 100,
                                   {.n_batch = 16, .n_sequences = 2}, bench);
    const std::vector<int32_t> prompt(40, 7), step{9};
    const std::vector<SequenceInput> both{{0, step}, {1, step}};
    const MemorySpan span;
    const bool is_fine = session.feed(0, prompt).has_value() && session.feed(0, step).has_value() &&
                         session.feed_batch(both).has_value();
    EXPECT_EQ(span.n_allocations(), 0) << name;
    EXPECT_TRUE(is_fine);
  }
}

}  // namespace
}  // namespace vitro::testing
