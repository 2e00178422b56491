// Stop strings over pieces of text: the reported faults of other engines as cases, and a naive search as the judge of
// random texts.
#include "generate/stop.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"

namespace vitro {
namespace {

struct Streamed {
  std::vector<std::string> pieces;  // what each push gave, then finish
  std::string text;
  bool is_stopped = false;
  std::string stopped_by;
};

Streamed stream(const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
  StopMatcher matcher(stops);
  Streamed out;
  for (const std::string& piece : pieces) out.pieces.push_back(matcher.push(piece));
  out.is_stopped = matcher.is_stopped();
  out.stopped_by = std::string(matcher.stopped_by().value_or(""));
  out.pieces.push_back(matcher.finish());
  for (const std::string& piece : out.pieces) out.text += piece;
  return out;
}

using Texts = std::vector<std::string>;

TEST(StopMatcher, HoldsBackWhatMayBeginAStop) {
  EXPECT_EQ(stream({"ABCD"}, {"AB"}).pieces, (Texts{"", "AB"}));
  EXPECT_EQ(stream({"ABCD"}, {"ABX"}).pieces, (Texts{"ABX", ""}));
  EXPECT_EQ(stream({"ABCD"}, {"xAB", "X"}).pieces, (Texts{"x", "ABX", ""}));
  EXPECT_EQ(stream({"ABCD"}, {"ABC", "D"}).pieces, (Texts{"", "", ""}));
  EXPECT_TRUE(stream({"ABCD"}, {"ABC", "D"}).is_stopped);
  EXPECT_FALSE(stream({"ABCD"}, {"ABC"}).is_stopped);
}

TEST(StopMatcher, AtTheFirstTokenInsideATokenAndAcrossThree) {
  EXPECT_EQ(stream({"</s>"}, {"</s>", "more"}).text, "");
  EXPECT_EQ(stream({"stop"}, {"don't stop here", "more"}).text, "don't ");
  EXPECT_EQ(stream({"</think>"}, {"so 4.", "</", "thi", "nk>\n", "Four."}).pieces,
            (Texts{"so 4.", "", "", "", "", ""}));
}

TEST(StopMatcher, AFailedBeginningMayHoldAnotherBeginning) {
  EXPECT_EQ(stream({"aab"}, {"a", "a", "a", "b", "c"}).pieces, (Texts{"", "", "a", "", "", ""}));
  EXPECT_EQ(stream({"abab!"}, {"ababab!"}).text, "ab");
}

TEST(StopMatcher, TheFirstCompleteOneWins) {
  // Both overlap: "cd" is complete before "abcdef".
  EXPECT_EQ(stream({"abcdef", "cd"}, {"xabcdef"}).text, "xab");
  EXPECT_EQ(stream({"abcdef", "cd"}, {"xabcdef"}).stopped_by, "cd");
  // Complete at the same character: the one that began first.
  for (const Texts& stops : {Texts{"cd", "bcd"}, Texts{"bcd", "cd"}}) {
    EXPECT_EQ(stream(stops, {"abcd"}).text, "a");
    EXPECT_EQ(stream(stops, {"abcd"}).stopped_by, "bcd");
  }
  // A prefix of another stop string always wins against it.
  EXPECT_EQ(stream({"END.", "END"}, {"THE END."}).text, "THE ");
}

TEST(StopMatcher, Unicode) {
  EXPECT_EQ(stream({"。"}, {"こん", "にちは。", "さようなら"}).text, "こんにちは");
  EXPECT_EQ(stream({"é!"}, {"caf", "é", "s"}).pieces, (Texts{"caf", "", "és", ""}));
  EXPECT_EQ(stream({"🙂🙃"}, {"🙂", "🙂", "🙃"}).text, "🙂");
  // Bytes of a character that come one by one are not lost.
  EXPECT_EQ(stream({"é"}, {"\xC3", "\xA8"}).text, "è");
}

TEST(StopMatcher, NothingAfterTheStopAndNothingWithoutStops) {
  StopMatcher matcher({"x"});
  EXPECT_EQ(matcher.push("axb"), "a");
  EXPECT_EQ(matcher.push("c"), "");
  EXPECT_EQ(matcher.finish(), "");
  EXPECT_EQ(matcher.stopped_by(), "x");
  EXPECT_EQ(stream({}, {"any", "thing"}).pieces, (Texts{"any", "thing", ""}));
  EXPECT_EQ(stream({"x"}, {"", "a", ""}).pieces, (Texts{"", "a", "", ""}));
}

// ---- against a naive search

struct Found {
  std::string before;
  std::string stop;
  bool is_found = false;
};

Found naive_search(const Texts& stops, const std::string& text) {
  for (size_t end = 1; end <= text.size(); ++end) {
    Found found;
    for (const std::string& stop : stops) {
      const bool ends_here = text.substr(0, end).ends_with(stop);
      if (ends_here && stop.size() > found.stop.size()) found = {text.substr(0, end - stop.size()), stop, true};
    }
    if (found.is_found) return found;
  }
  return {text, "", false};
}

size_t naive_undecided(const Texts& stops, const std::string& text) {
  size_t longest = 0;
  for (const std::string& stop : stops) {
    for (size_t n = 1; n < stop.size(); ++n) {
      if (text.ends_with(stop.substr(0, n))) longest = std::max(longest, n);
    }
  }
  return longest;
}

class Dice {
 public:
  explicit Dice(uint64_t seed) : seed_(seed) {}
  size_t below(size_t n) { return static_cast<size_t>(uniform_at(seed_, 0, position_++) * static_cast<double>(n)); }
  std::string text(size_t n_bytes, size_t n_letters) {
    std::string out;
    for (size_t i = 0; i < n_bytes; ++i) out += static_cast<char>('a' + below(n_letters));
    return out;
  }

 private:
  uint64_t seed_, position_ = 0;
};

TEST(StopMatcher, AgreesWithANaiveSearchHoweverTheTextIsCut) {
  int n_stopped = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Dice dice(seed);
    Texts stops;
    for (size_t i = 0; i <= dice.below(4); ++i) stops.push_back(dice.text(1 + dice.below(7), 2));
    const std::string text = dice.text(dice.below(40), 2 + dice.below(2));
    const Found expected = naive_search(stops, text);
    n_stopped += expected.is_found;

    StopMatcher matcher(stops);
    std::string given;
    for (size_t at = 0; at < text.size() && !matcher.is_stopped();) {
      const size_t n = std::min(text.size() - at, dice.below(6));
      given += matcher.push(text.substr(at, n));
      at += n;
      if (matcher.is_stopped()) break;
      // Everything that is certain was given out, at once.
      EXPECT_EQ(given.size(), at - naive_undecided(stops, text.substr(0, at))) << seed;
    }
    EXPECT_EQ(matcher.is_stopped(), expected.is_found) << seed;
    EXPECT_EQ(matcher.stopped_by().value_or(""), expected.stop) << seed;
    EXPECT_EQ(given + matcher.finish(), expected.before) << seed;
  }
  EXPECT_GT(n_stopped, 500);
  EXPECT_LT(n_stopped, 2900);
}

TEST(StopMatcher, ALongPeriodicTextTakesLinearTime) {
  // A search that begins anew at each byte would take 256 * 16 * 4 million steps.
  Texts stops(kMaxStopStrings, std::string(kMaxStopBytes - 1, 'a') + "b");
  StopMatcher matcher(stops);
  const std::string piece(4096, 'a');
  size_t n_out = 0;
  for (int i = 0; i < 1000; ++i) n_out += matcher.push(piece).size();
  EXPECT_EQ(n_out, 4096u * 1000u - (kMaxStopBytes - 1));
}

// ---- limits

TEST(StopStrings, Limits) {
  EXPECT_TRUE(validate_stop_strings({}).has_value());
  EXPECT_TRUE(validate_stop_strings(Texts(kMaxStopStrings, std::string(kMaxStopBytes, 'x'))).has_value());
  for (const Texts& stops :
       {Texts(kMaxStopStrings + 1, "x"), Texts{std::string(kMaxStopBytes + 1, 'x')}, Texts{""}, Texts{"\xC3"}}) {
    const Status status = validate_stop_strings(stops);
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  }
  const std::string message = validate_stop_strings(Texts{"ok", "", "\xFF"}).error().message;
  EXPECT_NE(message.find("stop string 2"), std::string::npos);
  EXPECT_NE(message.find("stop string 3"), std::string::npos);
}

}  // namespace
}  // namespace vitro
