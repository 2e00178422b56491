#include "plan/item.h"

#include <gtest/gtest.h>

#include "base/saturating.h"

namespace vitro {
namespace {

TEST(PlanItem, AProductWritesItsFactors) {
  const PlanItem item = product_item("cache", {{"n_layer", 32}, {"n_sequences", 1}, {"", 2, " B"}});
  EXPECT_EQ(item.amount, 64);
  EXPECT_EQ(item.formula, "n_layer x 2 B");  // a factor of one says nothing
  EXPECT_EQ(item.arithmetic, "32 x 2 B");
}

TEST(PlanItem, ASumIsAsCertainAsItsWeakestPart) {
  const PlanItem sum = sum_item("all", {{.name = "a", .amount = 3},
                                        {.name = "nothing"},
                                        {.name = "b", .amount = 4, .certainty = Certainty::kEstimated}});
  EXPECT_EQ(sum.amount, 7);
  EXPECT_EQ(sum.parts.size(), 2u);
  EXPECT_EQ(sum.certainty, Certainty::kEstimated);
}

TEST(PlanItem, IsFoundByItsPath) {
  const PlanItem root = sum_item("all", {sum_item("weights", {{.name = "q", .amount = 3}})});
  ASSERT_NE(find_item(root, "weights/q"), nullptr);
  EXPECT_EQ(find_item(root, "weights/q")->amount, 3);
  EXPECT_EQ(find_item(root, "weights/k"), nullptr);
}

TEST(PlanItem, WhatDoesNotFitIsRefusedByName) {
  const PlanItem root = sum_item("all", {product_item("cache", {{"n", int64_t{1} << 40}, {"m", int64_t{1} << 40}})});
  EXPECT_EQ(root.amount, kSaturated);
  const Status status = check_amounts(root, "bytes");
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("cache: more than 2^63 bytes: 1,099,511,627,776 x"), std::string::npos);
}

}  // namespace
}  // namespace vitro
