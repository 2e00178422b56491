#include "base/parse_size.h"

#include <gtest/gtest.h>

namespace vitro {
namespace {

TEST(ParseSize, UnitsOfBytesAreWhatTheySay) {
  EXPECT_EQ(parse_bytes("24GiB").value(), 24LL << 30);
  EXPECT_EQ(parse_bytes("24 gib").value(), 24LL << 30);
  EXPECT_EQ(parse_bytes("24GB").value(), 24'000'000'000);
  EXPECT_EQ(parse_bytes("1.5KiB").value(), 1536);
  EXPECT_EQ(parse_bytes("0.1kB").value(), 100);
  EXPECT_EQ(parse_bytes("123").value(), 123);
  EXPECT_EQ(parse_bytes("9223372036854775806").value(), 9223372036854775806LL);
}

TEST(ParseSize, ThousandsOfPositionsAreBinaryThoseOfTokensAreNot) {
  EXPECT_EQ(parse_positions("32k").value(), 32768);
  EXPECT_EQ(parse_positions("128K").value(), 131072);
  EXPECT_EQ(parse_positions("1m").value(), 1048576);
  EXPECT_EQ(parse_amount("2T").value(), 2'000'000'000'000);
  EXPECT_EQ(parse_amount("1.4T").value(), 1'400'000'000'000);
  EXPECT_EQ(parse_amount("300B").value(), 300'000'000'000);
  EXPECT_EQ(parse_amount("64").value(), 64);
}

TEST(ParseSize, RefusesWhatIsNoSize) {
  for (const char* text : {"", "GiB", "-1", "24G", "1e9", "1..5GB", ".", "24 X", "99999999999999999999", "9000000TiB",
                           "9999999999.5TB", "0x10", "1.2.3"}) {
    EXPECT_FALSE(parse_bytes(text).has_value()) << text;
  }
  EXPECT_FALSE(parse_positions("32GiB").has_value());
  EXPECT_FALSE(parse_positions("1000000000000000000000k").has_value());
  EXPECT_NE(parse_bytes("24G").error().message.find("GiB"), std::string::npos);
}

}  // namespace
}  // namespace vitro
