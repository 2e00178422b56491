#include "base/nearest.h"

#include <gtest/gtest.h>

namespace vitro {
namespace {

using Names = std::vector<std::string>;

TEST(Nearest, DistanceIsLevenshtein) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("flaw", "lawn"), 2U);
  EXPECT_EQ(edit_distance("same", "same"), 0U);
}

TEST(Nearest, OffersMisspeltAndShortNames) {
  const Names names = {"smollm2", "gemma3-270m", "minilm", "openai-community/gpt2"};
  EXPECT_EQ(nearest_names("smolm2", names, 3), Names{"smollm2"});
  EXPECT_EQ(nearest_names("SmolLM", names, 3), Names{"smollm2"});
  EXPECT_EQ(nearest_names("gemma", names, 3), Names{"gemma3-270m"});
  EXPECT_EQ(nearest_names("gpt2", names, 3), Names{"openai-community/gpt2"});
  EXPECT_EQ(nearest_names("all-MiniLM-L6-v2", names, 3), Names{"minilm"});
  EXPECT_EQ(nearest_names("llama", names, 3), Names{});
  EXPECT_EQ(nearest_names("m", names, 3), Names{});
}

TEST(Nearest, NearestFirstAndNoMoreThanAskedFor) {
  EXPECT_EQ(nearest_names("model", {"modes", "modal", "mode"}, 2), (Names{"mode", "modal"}));
}

TEST(Nearest, EntryOfATable) {
  struct Row {
    std::string_view name;
    int code;
  };
  constexpr Row kRows[] = {{"run", 1}, {"chat", 2}, {"show", 3}};
  EXPECT_EQ(nearest_entry(kRows, "chst").code, 2);
  EXPECT_EQ(nearest_entry(kRows, "").code, 1);
}

}  // namespace
}  // namespace vitro
