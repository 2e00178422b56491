// Numbers: checked arithmetic, how people read them, random ones.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/checked_math.h"
#include "base/human.h"
#include "base/rng.h"

namespace vitro {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

TEST(CheckedMath, EdgesOf64Bits) {
  EXPECT_EQ(checked_add(kMax - 1, 1), kMax);
  EXPECT_EQ(checked_add(kMax, 1), std::nullopt);
  EXPECT_EQ(checked_add(kMax, kMax), std::nullopt);
  EXPECT_EQ(checked_mul(uint64_t{1} << 32, (uint64_t{1} << 32) - 1), kMax - (uint64_t{1} << 32) + 1);
  EXPECT_EQ(checked_mul(uint64_t{1} << 32, uint64_t{1} << 32), std::nullopt);
  EXPECT_EQ(checked_mul(kMax, 0), 0u);
  EXPECT_EQ(checked_mul(kMax, 1), kMax);
  EXPECT_EQ(checked_mul(3, kMax / 2), std::nullopt);
}

TEST(CheckedMath, RoundingUp) {
  EXPECT_EQ(ceil_div(0, 8), 0);
  EXPECT_EQ(ceil_div(1, 8), 1);
  EXPECT_EQ(ceil_div(8, 8), 1);
  EXPECT_EQ(ceil_div(9, 8), 2);
  EXPECT_EQ(round_up(0, 32), 0);
  EXPECT_EQ(round_up(33, 32), 64);
  EXPECT_EQ(round_up(64, 32), 64);
}

TEST(Human, Bytes) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1024), "1.0 KiB");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes(98362432), "93.8 MiB");
  EXPECT_EQ(human_bytes(uint64_t{200} << 20), "200 MiB");
  EXPECT_EQ(human_bytes(uint64_t{7} << 30), "7.0 GiB");
  EXPECT_EQ(human_bytes(uint64_t{3} << 40), "3.0 TiB");
  EXPECT_EQ(human_bytes(kMax), "16384 PiB");
}

TEST(Human, SizesWithTheirUnit) {
  EXPECT_EQ(parse_bytes("24GiB").value(), int64_t{24} << 30);
  EXPECT_EQ(parse_bytes("24GB").value(), 24'000'000'000);
  EXPECT_EQ(parse_bytes(" 1.5 tib ").value(), int64_t{3} << 39);
  EXPECT_EQ(parse_bytes("512B").value(), 512);
  EXPECT_EQ(parse_bytes("0.5kB").value(), 500);
  EXPECT_EQ(parse_bytes("9223372036854775807").value(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(parse_bytes("9007199254740993").value(), 9007199254740993);  // 2^53 + 1 is no double
  for (const char* wrong : {"", "24G", "GB", "-1", "-1GB", "1e3GB", "nan", "inf", "1 2", "0x10", "24GBs", "1.2.3GB",
                            "9223372036854775808", "10000PiB", "+5"}) {
    EXPECT_FALSE(parse_bytes(wrong)) << wrong;
  }
}

TEST(Human, ThousandsOfPositionsAreBinaryThoseOfTokensAreNot) {
  EXPECT_EQ(parse_positions("4096").value(), 4096);
  EXPECT_EQ(parse_positions("32k").value(), 32768);
  EXPECT_EQ(parse_positions("128K").value(), 131072);
  EXPECT_EQ(parse_positions("1m").value(), 1048576);
  EXPECT_EQ(parse_amount("2T").value(), 2'000'000'000'000);
  EXPECT_EQ(parse_amount("1.4T").value(), 1'400'000'000'000);
  EXPECT_EQ(parse_amount("300B").value(), 300'000'000'000);
  for (const char* wrong : {"", "k", "-1", "32GiB", "1e3", "1000000000000000000000k", "9223372036854775807k"}) {
    EXPECT_FALSE(parse_positions(wrong)) << wrong;
  }
  EXPECT_FALSE(parse_amount("9999999999T"));
}

TEST(Human, Seconds) {
  EXPECT_EQ(human_seconds(-1), "0 s");
  EXPECT_EQ(human_seconds(45.2), "45 s");
  EXPECT_EQ(human_seconds(59.6), "1 min 0 s");
  EXPECT_EQ(human_seconds(190), "3 min 10 s");
  EXPECT_EQ(human_seconds(7300), "2 h 1 min");
  EXPECT_EQ(human_seconds(std::numeric_limits<double>::quiet_NaN()), "over 99 h");
}

TEST(Human, Counts) {
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(1000), "1,000");
  EXPECT_EQ(human_count(3821079552), "3,821,079,552");
  EXPECT_EQ(human_count(-999), "-999");
  EXPECT_EQ(human_count(-1234567), "-1,234,567");
  EXPECT_EQ(human_count(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

// The known answers that come with the Random123 library.
TEST(Rng, PhiloxKnownAnswers) {
  using Block = std::array<uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// The 53 bits are the first word, then the top 21 of the second: from the known answer for zeros.
TEST(Rng, UniformTakes53Bits) {
  EXPECT_EQ(uniform_at(0, 0, 0),
            std::ldexp(static_cast<double>(0x6627e8d5), -32) + std::ldexp(static_cast<double>(0xe169c58d >> 11), -53));
  EXPECT_EQ(uniform_at(kMax, kMax, kMax),
            std::ldexp(static_cast<double>(0x408f276d), -32) + std::ldexp(static_cast<double>(0x41c83b0e >> 11), -53));
  // position is the low half of the counter, sequence the high half, seed the key.
  EXPECT_EQ(uniform_at(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88),
            std::ldexp(static_cast<double>(0xd16cfe09), -32) + std::ldexp(static_cast<double>(0x94fdcceb >> 11), -53));
}

TEST(Rng, UniformIsUniform) {
  constexpr int kDraws = 100000, kCells = 100;
  std::array<int, kCells> n_in_cell{};
  double sum = 0;
  for (uint64_t i = 0; i < kDraws; ++i) {
    const double u = uniform_at(1, 2, i);
    ASSERT_TRUE(u >= 0 && u < 1);
    sum += u;
    ++n_in_cell[static_cast<size_t>(u * kCells)];
  }
  double chi2 = 0;
  for (const int n : n_in_cell) chi2 += (n - 1000.0) * (n - 1000.0) / 1000.0;
  EXPECT_LT(chi2, 99 + 4 * std::sqrt(2 * 99.0));
  EXPECT_NEAR(sum / kDraws, 0.5, 4 * std::sqrt(1 / 12.0 / kDraws));
}

}  // namespace
}  // namespace vitro
