#include "base/letters.h"

#include <gtest/gtest.h>

namespace vitro {
namespace {

TEST(Letters, LowerCaseTouchesAsciiAlone) {
  EXPECT_EQ(lower_case("H100-80G_z@["), "h100-80g_z@[");
  EXPECT_EQ(lower_case("\xc3\x84 A"), "\xc3\x84 a");  // U+00C4 stays
  EXPECT_EQ(lower_case(""), "");
}

TEST(Letters, TrimmedAtBothEnds) {
  EXPECT_EQ(trimmed(" \t\r\na b\n c\xc2\xa0 \n"), "a b\n c\xc2\xa0");  // a no-break space stays
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \n "), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Letters, ControlCharacters) {
  EXPECT_FALSE(has_control("NVLink 4 \xc3\xa9 \xc2\xa0"));  // U+00E9 and a no-break space
  EXPECT_FALSE(has_control("\xe2\x80\x9d"));                // U+201D: 0x80 without 0xC2
  for (const std::string_view text : {"\x1b[2J", "a\nb", "\t", "\x7f",
                                      "\xc2\x9b"
                                      "2J"})
    EXPECT_TRUE(has_control(text));
  EXPECT_TRUE(has_control(std::string_view("\0", 1)));
}

}  // namespace
}  // namespace vitro
