// The skeleton's kernel on every instruction set that runs here: lengths x misalignments against the twin, with a
// derived tolerance.
#include "kernels/skeleton/dot.h"

#include "kernels/kernels_test_util.h"

namespace vitro::testing {
namespace {

/// The error of a float32 sum grows like sqrt(n); kDotSlack allows for the worst of many tries.
constexpr double kDotSlack = 4;

struct NamedDot {
  const char* name;
  DotFn dot;
};

std::vector<NamedDot> usable_dots() {
  std::vector<NamedDot> dots;
#if defined(__x86_64__)
  for (const NamedDot& named : {NamedDot{"avx512", kDotAvx512}, NamedDot{"avx2", kDotAvx2}, NamedDot{"v2", kDotV2}}) {
    if (find_kernel_table(named.name) != nullptr) dots.push_back(named);
  }
#endif
  return dots;
}

TEST(Skeleton, DotMatchesTheTwin) {
  for (const NamedDot& named : usable_dots()) {
    for (const int64_t n : kLengths) {
      for (const int64_t offset : {0, 1, 3}) {
        Row a(random_values(n, 1), offset), b(random_values(n, 2), 3 - offset);
        double size = 0;
        for (int64_t i = 0; i < n; ++i) size += std::abs(static_cast<double>(a[i]) * b[i]);
        const double tolerance = kDotSlack * kEps * std::sqrt(size);
        EXPECT_NEAR(named.dot(a.data(), b.data(), n), dot_reference(a.data(), b.data(), n), tolerance)
            << named.name << " n " << n;
      }
    }
  }
}

/// Tails are masked, not skipped: small whole numbers are summed exactly.
TEST(Skeleton, DotCountsEveryElement) {
  for (const NamedDot& named : usable_dots()) {
    for (const int64_t n : kLengths) {
      const std::vector<float> ones(static_cast<size_t>(n), 1.0F);
      EXPECT_EQ(named.dot(ones.data(), ones.data(), n), static_cast<float>(n)) << named.name;
    }
  }
}

}  // namespace
}  // namespace vitro::testing
