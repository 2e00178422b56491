// Every lane of every chain is computed, every round: x = 1 - 2^-n after n rounds of x / 2 + 1 / 2, exact in float32.
#include "kernels/burst/burst.h"

#include <algorithm>

#include "kernels/kernels_test_util.h"

namespace vitro::testing {
namespace {

TEST(Burst, ComputesAllOfItsLanes) {
  for (const KernelTable* table : usable_tables()) {
    const Burst burst = burst_of(*table);
    EXPECT_GE(burst.n_lanes, 1) << table->name;
    for (const int64_t n : {0, 1, 2, 8}) {
      const float expected = static_cast<float>(burst.n_lanes) * (1 - std::ldexp(1.0F, -static_cast<int>(n)));
      EXPECT_EQ(burst.run(0.5F, 0.5F, n), expected) << table->name << " rounds " << n;
    }
  }
}

TEST(Burst, IsOfTheTablesInstructionSet) {
  std::vector<float (*)(float, float, int64_t) noexcept> seen;
  for (const KernelTable* table : usable_tables()) {
    const Burst burst = burst_of(*table);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), burst.run), 0) << table->name;
    seen.push_back(burst.run);
  }
}

}  // namespace
}  // namespace vitro::testing
