// The narrow floats: every value comes back from its own float32, and between two values the nearer one is taken, of
// two equally near ones the even. (kernels/encode_test.cc holds the same functions against NumPy.)
#include "tensor/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace vitro {
namespace {

/// `up` of each finite code, and of the points in the middle to the next and just beside it; and of the negatives.
template <class Code, class Up, class Down>
void check_rounding(Code largest, Code sign, Up up, Down down) {
  for (uint32_t c = 0; c < largest; ++c) {
    const auto code = static_cast<Code>(c), next = static_cast<Code>(c + 1), even = c % 2 == 0 ? code : next;
    const float low = up(code), middle = low + (up(next) - low) / 2;
    ASSERT_EQ(down(low), code);
    ASSERT_EQ(down(-low), code | sign);
    ASSERT_EQ(down(middle), even) << middle;
    ASSERT_EQ(down(-middle), even | sign) << middle;
    ASSERT_EQ(down(std::nextafter(middle, -1.0F)), code) << middle;
    ASSERT_EQ(down(std::nextafter(middle, INFINITY)), next) << middle;
  }
}

TEST(Half, Float16RoundsToNearestEven) {
  check_rounding<uint16_t>(0x7BFF, 0x8000, f16_to_f32, f32_to_f16);
  EXPECT_EQ(f32_to_f16(65504.0F), 0x7BFF);
  EXPECT_EQ(f32_to_f16(65519.996F), 0x7BFF);
  EXPECT_EQ(f32_to_f16(65520.0F), 0x7C00);
  EXPECT_EQ(f32_to_f16(-1e30F), 0xFC00);
  EXPECT_EQ(f32_to_f16(INFINITY), 0x7C00);
  EXPECT_EQ(f32_to_f16(-0.0F), 0x8000);
  EXPECT_EQ(f32_to_f16(0x1p-25F), 0x0000);
  EXPECT_EQ(f32_to_f16(1e-45F), 0x0000);
  EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(std::bit_cast<float>(0x7F800001U)))));
}

TEST(Half, Bfloat16RoundsToNearestEven) {
  check_rounding<uint16_t>(0x7F7F, 0x8000, bf16_to_f32, f32_to_bf16);
  EXPECT_EQ(f32_to_bf16(3.4e38F), 0x7F80);
  EXPECT_EQ(f32_to_bf16(-INFINITY), 0xFF80);
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(std::bit_cast<float>(0x7F800001U)))));
}

TEST(Half, E4m3RoundsToNearestEvenAndSaturates) {
  check_rounding<uint8_t>(0x7E, 0x80, e4m3_to_f32, f32_to_e4m3);
  EXPECT_EQ(e4m3_to_f32(0x7E), 448.0F);
  EXPECT_EQ(e4m3_to_f32(0x08), 0x1p-6F);
  EXPECT_EQ(e4m3_to_f32(0x01), 0x1p-9F);
  EXPECT_EQ(e4m3_to_f32(0x38), 1.0F);
  for (const float x : {448.0F, 449.0F, 464.0F, 480.0F, 1e30F, INFINITY}) {
    EXPECT_EQ(f32_to_e4m3(x), 0x7E) << x;
    EXPECT_EQ(f32_to_e4m3(-x), 0xFE) << x;
  }
  EXPECT_TRUE(std::isnan(e4m3_to_f32(f32_to_e4m3(NAN))));
  EXPECT_TRUE(std::isnan(e4m3_to_f32(0xFF)));
}

}  // namespace
}  // namespace vitro
