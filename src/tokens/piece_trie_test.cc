// The trie against a map, on random pieces.
#include "tokens/piece_trie.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace vitro {
namespace {

TEST(PieceTrie, FindsWhatAMapFinds) {
  std::mt19937 rng(2);
  for (const uint32_t n_letters : {2U, 6U, 256U}) {
    std::map<std::string, TokenId> pieces;
    for (TokenId id = 0; id < 2000; ++id) {
      std::string piece;
      for (size_t i = rng() % 6; i > 0; --i) piece += static_cast<char>(rng() % n_letters);
      pieces[piece] = id;
    }
    std::vector<PieceTrie::Entry> entries;
    for (const auto& [piece, id] : pieces) entries.push_back({piece, id});
    const Result<PieceTrie> trie = PieceTrie::make(entries);
    ASSERT_TRUE(trie);
    for (int round = 0; round < 5000; ++round) {
      std::string text;
      for (size_t i = rng() % 7; i > 0; --i) text += static_cast<char>(rng() % n_letters);
      const auto found = pieces.find(text);
      EXPECT_EQ(trie->find(text), found == pieces.end() || text.empty() ? -1 : found->second);
    }
  }
}

TEST(PieceTrie, OfTwinsTheLastWins) {
  const Result<PieceTrie> trie = PieceTrie::make({{"ab", 1}, {"a", 2}, {"ab", 3}});
  EXPECT_EQ(trie->find("ab"), 3);
  EXPECT_EQ(trie->find("b"), -1);
  EXPECT_EQ(PieceTrie().find("a"), -1);
}

}  // namespace
}  // namespace vitro
