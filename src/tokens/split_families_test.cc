// The table of ways to cut: every pattern is one that the matcher knows, and every name stands there once.
#include "tokens/split_families.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "text/split_pattern.h"

namespace vitro {
namespace {

TEST(SplitFamilies, EveryPatternCompiles) {
  std::set<std::string_view> names;
  std::set<std::string_view> compiled;
  for (const SplitFamily& family : split_families()) {
    EXPECT_TRUE(names.insert(family.name).second) << family.name << " stands there twice";
    EXPECT_EQ(find_split_family(family.name), &family);
    EXPECT_FALSE(family.patterns.empty()) << family.name;
    for (const auto patterns : {family.patterns, family.patterns_of_bytes}) {
      for (const std::string_view pattern : patterns) {
        if (!compiled.insert(pattern).second) continue;
        const Result<SplitPattern> result = SplitPattern::compile(pattern);
        EXPECT_TRUE(result) << family.name << ": " << result.error().message;
      }
    }
  }
  EXPECT_GT(names.size(), 60U);
  EXPECT_EQ(find_split_family("never-heard-of"), nullptr);
}

}  // namespace
}  // namespace vitro
