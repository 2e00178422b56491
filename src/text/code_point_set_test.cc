// Sets of code points: the algebra, and that runs of properties say what the tables say.
#include "text/code_point_set.h"

#include <gtest/gtest.h>

namespace vitro {
namespace {

using Ranges = std::vector<CodePointSet::Range>;

TEST(CodePointSet, KeepsRangesApartAndInOrder) {
  EXPECT_EQ(CodePointSet::of({{5, 7}, {1, 2}, {3, 3}, {6, 9}}).ranges(), (Ranges{{1, 3}, {5, 9}}));
  EXPECT_TRUE(CodePointSet::of({}).is_empty());
}

TEST(CodePointSet, Algebra) {
  const CodePointSet a = CodePointSet::of({{0, 10}, {20, 30}});
  const CodePointSet b(5, 25);
  EXPECT_EQ((a | b).ranges(), (Ranges{{0, 30}}));
  EXPECT_EQ((a & b).ranges(), (Ranges{{5, 10}, {20, 25}}));
  EXPECT_EQ(a.complement().ranges(), (Ranges{{11, 19}, {31, CodePointSet::kLast}}));
  EXPECT_EQ(a.complement().complement(), a);
  EXPECT_TRUE(CodePointSet::all().complement().is_empty());
  EXPECT_TRUE(a.contains(20) && a.contains(30) && a.contains(0));
  EXPECT_FALSE(a.contains(11) || a.contains(19) || a.contains(31));
  EXPECT_FALSE(CodePointSet().contains(0));
}

TEST(CodePointSet, RunsHaveThePropertiesOfTheirCodePoints) {
  char32_t next = 0;
  size_t n_wrong = 0;
  for (const PropertyRun& run : property_runs()) {
    ASSERT_EQ(run.first, next);
    for (char32_t code = run.first; code <= run.last; ++code) n_wrong += properties_of(code) != run.properties;
    next = run.last + 1;
  }
  EXPECT_EQ(next, CodePointSet::kLast + 1);
  EXPECT_EQ(n_wrong, 0U);
}

}  // namespace
}  // namespace vitro
