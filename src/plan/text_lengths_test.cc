// Where attention passes the feed-forward part: closed forms for Llama, whose layers have 2 x 4 d^2 of projections,
// 2 x 3 d f of feed-forward and 4 d n of scores a position (all pairs; masked (n + 1) / 2 of n).
#include "plan/text_lengths.h"

#include <gtest/gtest.h>

#include "plan/first_where.h"
#include "plan/plan_test_util.h"

namespace vitro {
namespace {

TEST(TextLengths, CrossoversOfLlama) {
  const testing::PlannedModel model = testing::planned_model("llama-7b");
  const AttentionCrossovers found = attention_crossovers(model.config, model.weights());
  const int64_t d = 4096, f = 11'008;
  EXPECT_EQ(found.all_pairs, 3 * f / 2);
  EXPECT_EQ(found.masked, 3 * f - 1);
  EXPECT_EQ(found.all_pairs_with_projections, 3 * f / 2 - 2 * d);
  EXPECT_EQ(found.masked_with_projections, 3 * f - 4 * d - 1);
}

TEST(TextLengths, FlopsOfATextOfLlama) {
  const testing::PlannedModel model = testing::planned_model("llama-7b");
  const TextFlops flops = text_flops(model.config, model.weights(), 1000);
  EXPECT_EQ(flops.projections, int64_t{32} * 2 * 1000 * 4 * 4096 * 4096);
  EXPECT_EQ(flops.all_pairs, int64_t{32} * 4 * 4096 * 1000 * 1000);
  EXPECT_EQ(flops.masked, int64_t{32} * 4 * 4096 * (1000 * 1001 / 2));
  EXPECT_EQ(flops.feed_forward, int64_t{32} * 2 * 1000 * 3 * 4096 * 11'008);
}

TEST(FirstWhere, IsTheLeast) {
  for (const int64_t least : {1, 2, 3, 7, 8, 9, 1023, 1024}) {
    EXPECT_EQ(first_where([&](int64_t n) { return n >= least; }, 1024), least);
  }
  EXPECT_EQ(first_where([](int64_t n) { return n > 1024; }, 1024), std::nullopt);
}

}  // namespace
}  // namespace vitro
