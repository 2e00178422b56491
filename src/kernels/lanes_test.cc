// The lane type: every function on every instruction set against plain C++, bit for bit, and the accuracy of exp and
// tanh over all floats.
#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/kernels_test_util.h"
#include "kernels/table.h"
#include "tensor/half.h"

namespace vitro {
namespace {
/// One instruction set's functions; see lanes_probe-inl.h for what each does.
struct LaneProbe {
  const char* name;
  void (*exp)(const float*, int64_t, float*);
  void (*tanh)(const float*, int64_t, float*);
  void (*f16)(const void*, float*);
  void (*bf16)(const void*, float*);
  void (*u16)(const void*, float*);
  void (*u8)(const void*, float*);
  void (*i8)(const void*, float*);
  void (*e4m3)(const void*, float*);
  void (*set1_f16)(uint16_t, float*);
  void (*to_f16)(const float*, int64_t, uint16_t*);
  void (*words)(const int32_t*, int64_t, uint16_t*);
  void (*bytes)(const int32_t*, int64_t, uint8_t*);
  void (*truncate)(const float*, float*);
  void (*copy_words)(const uint16_t*, int64_t, float*);
  void (*copy_bytes)(const uint8_t*, int64_t, float*);
  void (*word_halves)(const uint16_t*, const uint16_t*, float*);
  void (*byte_halves)(const uint8_t*, const uint8_t*, float*);
  void (*bits)(const int32_t*, int, float*);
  void (*copy)(const float*, int64_t, float*);
  void (*store)(const float*, int64_t, float*);
  void (*range)(int64_t, int64_t, float*);
  void (*halves)(const float*, const float*, float*);
  float (*sum)(const float*);
  float (*max)(const float*);
  void (*pairs)(const float*, float*, float*);
  void (*scale_by_power)(const float*, const float*, float*);
  void (*look_up)(const uint8_t*, const int32_t*, float*);
};
}  // namespace
}  // namespace vitro

#include "kernels/isa/open_avx512-inl.h"

#include "kernels/isa/lanes_avx512-inl.h"

#include "kernels/body/vector_loop-inl.h"

#include "kernels/body/exp-inl.h"

#include "kernels/lanes_probe-inl.h"

#include "kernels/isa/close-inl.h"

#include "kernels/isa/open_avx2-inl.h"

#include "kernels/isa/lanes_avx2-inl.h"

#include "kernels/body/vector_loop-inl.h"

#include "kernels/body/exp-inl.h"

#include "kernels/lanes_probe-inl.h"

#include "kernels/isa/close-inl.h"

#include "kernels/isa/open_v2-inl.h"

#include "kernels/isa/lanes_v2-inl.h"

#include "kernels/body/vector_loop-inl.h"

#include "kernels/body/exp-inl.h"

#include "kernels/lanes_probe-inl.h"

#include "kernels/isa/close-inl.h"

namespace vitro::testing {
namespace {

using Lanes = std::array<float, 16>;

std::vector<LaneProbe> usable_probes() {
  std::vector<LaneProbe> probes;
  for (const LaneProbe& probe : {avx512::make_probe("avx512"), avx2::make_probe("avx2"), v2::make_probe("v2")}) {
    if (find_kernel_table(probe.name) != nullptr) probes.push_back(probe);
  }
  return probes;
}

/// binary16 to float32 by the definition, in double.
float half_value(uint16_t half) {
  const int exponent = (half >> 10) & 31, fraction = half & 1023;
  const double sign = (half & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return static_cast<float>(fraction == 0 ? sign * INFINITY : NAN);
  if (exponent == 0) return static_cast<float>(sign * std::ldexp(fraction, -24));
  return static_cast<float>(sign * std::ldexp(1024 + fraction, exponent - 25));
}

TEST(Lanes, LoadF16KnowsEveryHalf) {
  for (const LaneProbe& probe : usable_probes()) {
    for (uint32_t start = 0; start < 65536; start += 16) {
      std::array<uint16_t, 16> half;
      for (uint32_t i = 0; i < 16; ++i) half[i] = static_cast<uint16_t>(start + i);
      Lanes out;
      probe.f16(half.data(), out.data());
      for (size_t i = 0; i < 16; ++i) {
        const float expected = half_value(half[i]);
        if (std::isnan(expected)) {
          // The sign and the payload stay, the NaN is quiet.
          const uint32_t payload = (half[i] & 1023U) << 13 | 0x7FC00000U | (half[i] & 0x8000U) << 16;
          ASSERT_EQ(bits(out[i]), payload) << probe.name << " half " << half[i];
        } else {
          ASSERT_EQ(bits(out[i]), bits(expected)) << probe.name << " half " << half[i];
        }
      }
    }
  }
}

TEST(Lanes, WidenE4m3KnowsEveryNumber) {
  for (const LaneProbe& probe : usable_probes()) {
    for (uint32_t start = 0; start < 256; start += 16) {
      std::array<uint8_t, 16> codes;
      for (uint32_t i = 0; i < 16; ++i) codes[i] = static_cast<uint8_t>(start + i);
      Lanes out;
      probe.e4m3(codes.data(), out.data());
      for (size_t i = 0; i < 16; ++i) {
        if ((codes[i] & 0x7F) == 0x7F) continue;  // NaN, which nobody stores
        ASSERT_EQ(bits(out[i] * 256), bits(e4m3_to_f32(codes[i]))) << probe.name << " code " << int{codes[i]};
      }
    }
  }
}

TEST(Lanes, NarrowF16RoundsAsTheScalar) {
  constexpr uint32_t kStep = 1013;  // a prime, so that all low bits are met
  for (const LaneProbe& probe : usable_probes()) {
    for (uint64_t b = 0; b + 16 * kStep < (uint64_t{1} << 32); b += 16 * kStep) {
      Lanes x;
      for (size_t i = 0; i < 16; ++i) x[i] = std::bit_cast<float>(static_cast<uint32_t>(b + i * kStep));
      std::array<uint16_t, 16> out;
      probe.to_f16(x.data(), 16, out.data());
      for (size_t i = 0; i < 16; ++i) ASSERT_EQ(out[i], f32_to_f16(x[i])) << probe.name << " x " << x[i];
    }
    // Every half and what lies in the middle between it and the next, and just beside the middle.
    for (uint32_t half = 0; half < 0x7C00; ++half) {
      const float low = half_value(static_cast<uint16_t>(half)),
                  middle = (low + half_value(static_cast<uint16_t>(half + 1))) / 2;
      Lanes x = {low, -low, middle, -middle, std::nextafter(middle, 0.0F), std::nextafter(middle, INFINITY)};
      std::array<uint16_t, 16> out;
      probe.to_f16(x.data(), 16, out.data());
      for (size_t i = 0; i < 6; ++i) ASSERT_EQ(out[i], f32_to_f16(x[i])) << probe.name << " x " << x[i];
    }
  }
}

TEST(Lanes, SetAllToAFloat16) {
  for (const LaneProbe& probe : usable_probes()) {
    for (const int code : {0x0000, 0x8000, 0x0001, 0x03FF, 0x3C00, 0x7BFF, 0xFC00, 0x5678}) {
      const auto half = static_cast<uint16_t>(code);
      Lanes out;
      probe.set1_f16(half, out.data());
      for (const float x : out) EXPECT_EQ(bits(x), bits(half_value(half))) << probe.name << " half " << half;
    }
  }
}

TEST(Lanes, IntegersNarrowToTheirLowBits) {
  std::array<int32_t, 16> a;
  for (size_t i = 0; i < 16; ++i) a[i] = static_cast<int32_t>(0x9E3779B9U * (i + 1));
  for (const LaneProbe& probe : usable_probes()) {
    for (int64_t n = 0; n <= 16; ++n) {
      std::array<uint16_t, 17> words;
      std::array<uint8_t, 17> bytes;
      words.fill(0x7777);
      bytes.fill(0x77);
      probe.words(a.data(), n, words.data());
      probe.bytes(a.data(), n, bytes.data());
      for (size_t i = 0; i < 17; ++i) {
        const bool is_stored = static_cast<int64_t>(i) < n;
        EXPECT_EQ(words[i], is_stored ? static_cast<uint16_t>(a[i]) : 0x7777) << probe.name << " n " << n;
        EXPECT_EQ(bytes[i], is_stored ? static_cast<uint8_t>(a[i]) : 0x77) << probe.name << " n " << n;
      }
    }
  }
}

TEST(Lanes, TruncationIsTowardsZero) {
  for (const LaneProbe& probe : usable_probes()) {
    for (float x = -130; x < 130; x += 0.375F) {
      const Lanes in = {x, std::nextafter(x, 200.0F), std::nextafter(x, -200.0F)};
      Lanes out;
      probe.truncate(in.data(), out.data());
      for (size_t i = 0; i < 3; ++i) EXPECT_EQ(out[i], std::trunc(in[i])) << probe.name << " x " << in[i];
    }
  }
}

TEST(Lanes, IntegersWiden) {
  std::array<uint16_t, 16> words;
  for (size_t i = 0; i < 16; ++i) words[i] = static_cast<uint16_t>(0x4217 * (i + 1));
  for (const LaneProbe& probe : usable_probes()) {
    Lanes bf16, u16, u8, i8;
    probe.bf16(words.data(), bf16.data());
    probe.u16(words.data(), u16.data());
    probe.u8(words.data(), u8.data());
    probe.i8(words.data(), i8.data());
    for (size_t i = 0; i < 16; ++i) {
      const auto byte = static_cast<uint8_t>(i % 2 == 0 ? words[i / 2] & 255 : words[i / 2] >> 8);
      EXPECT_EQ(bits(bf16[i]), static_cast<uint32_t>(words[i]) << 16) << probe.name;
      EXPECT_EQ(u16[i], words[i]) << probe.name;
      EXPECT_EQ(u8[i], byte) << probe.name;
      EXPECT_EQ(i8[i], static_cast<int8_t>(byte)) << probe.name;
    }
  }
}

TEST(Lanes, IntegerArithmetic) {
  std::array<int32_t, 16> a;
  for (size_t i = 0; i < 16; ++i) a[i] = static_cast<int32_t>(0x9E3779B9U * (i + 1));
  for (const LaneProbe& probe : usable_probes()) {
    for (int n = 0; n < 32; ++n) {
      Lanes out;
      probe.bits(a.data(), n, out.data());
      for (size_t i = 0; i < 16; ++i) {
        const auto u = static_cast<uint32_t>(a[i]);
        EXPECT_EQ(out[i], static_cast<float>((((u << 3) + (u >> 5) - (u >> n)) & 0xFFFFU) | 1U))
            << probe.name << " n " << n;
      }
    }
  }
}

TEST(Lanes, PartialAccessTouchesOnlyItsLanes) {
  const std::vector<float> x = random_values(16, 1);
  for (const LaneProbe& probe : usable_probes()) {
    for (int64_t n = -3; n <= 20; ++n) {
      std::vector<float> exact;  // a sanitizer sees reads beyond the last, even in memory of the vector
      exact.reserve(16);
      exact.assign(x.begin(), x.begin() + std::clamp<int64_t>(n, 0, 16));
      Lanes loaded;
      std::vector<float> stored(exact.size() + 1, 7.0F);
      probe.copy(exact.data(), n, loaded.data());
      probe.store(x.data(), std::min<int64_t>(n, 16), stored.data());
      for (int64_t i = 0; i < 16; ++i) EXPECT_EQ(loaded[i], i < n ? x[i] : 0.0F) << probe.name << " n " << n;
      for (size_t i = 0; i < exact.size(); ++i) EXPECT_EQ(stored[i], x[i]) << probe.name << " n " << n;
      EXPECT_EQ(stored.back(), 7.0F) << probe.name << " n " << n;
    }
  }
}

TEST(Lanes, PartialAccessToWordsAndBytesTouchesOnlyItsLanes) {
  for (const LaneProbe& probe : usable_probes()) {
    for (int64_t n = -3; n <= 20; ++n) {
      std::vector<uint16_t> words;  // a sanitizer sees reads beyond the last, even in memory of the vector
      std::vector<uint8_t> bytes;
      words.reserve(16), bytes.reserve(16);
      for (int64_t i = 0; i < std::clamp<int64_t>(n, 0, 16); ++i)
        words.push_back(static_cast<uint16_t>(0x4217 * (i + 1)));
      bytes.assign(words.begin(), words.end());
      Lanes from_words, from_bytes;
      probe.copy_words(words.data(), n, from_words.data());
      probe.copy_bytes(bytes.data(), n, from_bytes.data());
      for (size_t i = 0; i < 16; ++i) {
        EXPECT_EQ(from_words[i], i < words.size() ? words[i] : 0) << probe.name << " n " << n;
        EXPECT_EQ(from_bytes[i], i < bytes.size() ? bytes[i] : 0) << probe.name << " n " << n;
      }
    }
  }
}

TEST(Lanes, RangesAndHalves) {
  const std::vector<float> x = random_values(32, 2);
  for (const LaneProbe& probe : usable_probes()) {
    for (int64_t begin = -70; begin < 70; begin += 3) {
      for (int64_t end = -70; end < 70; ++end) {
        Lanes out;
        probe.range(begin, end, out.data());
        for (int64_t i = 0; i < 16; ++i) {
          ASSERT_EQ(out[i], i >= begin && i < end ? 1.0F : 0.0F) << probe.name << ' ' << begin << ' ' << end;
        }
      }
    }
    Lanes halves;
    probe.halves(x.data(), x.data() + 20, halves.data());
    std::array<uint16_t, 32> words;
    std::array<uint8_t, 32> bytes;
    for (size_t i = 0; i < 32; ++i) words[i] = static_cast<uint16_t>(1000 * i), bytes[i] = static_cast<uint8_t>(7 * i);
    Lanes word_halves, byte_halves;
    probe.word_halves(words.data(), words.data() + 20, word_halves.data());
    probe.byte_halves(bytes.data(), bytes.data() + 20, byte_halves.data());
    for (size_t i = 0; i < 16; ++i) {
      EXPECT_EQ(halves[i], x[i < 8 ? i : i + 12]) << probe.name;
      EXPECT_EQ(word_halves[i], words[i < 8 ? i : i + 12]) << probe.name;
      EXPECT_EQ(byte_halves[i], bytes[i < 8 ? i : i + 12]) << probe.name;
    }
  }
}

TEST(Lanes, ReductionsAreTheFixedTree) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<float> x = random_values(16, seed, 100);
    std::vector<float> sums = x, maxima = x;
    for (size_t width = 8; width > 0; width /= 2) {
      for (size_t i = 0; i < width; ++i) {
        sums[i] += sums[i + width];
        maxima[i] = std::max(maxima[i], maxima[i + width]);
      }
    }
    for (const LaneProbe& probe : usable_probes()) {
      EXPECT_EQ(bits(probe.sum(x.data())), bits(sums[0])) << probe.name;
      EXPECT_EQ(probe.max(x.data()), maxima[0]) << probe.name;
    }
  }
}

TEST(Lanes, PairsSplitAndJoin) {
  const std::vector<float> x = random_values(32, 3);
  for (const LaneProbe& probe : usable_probes()) {
    std::vector<float> halves(32), back(32);
    probe.pairs(x.data(), halves.data(), back.data());
    for (size_t i = 0; i < 32; ++i) EXPECT_EQ(halves[i], x[i < 16 ? 2 * i : 2 * (i - 16) + 1]) << probe.name;
    EXPECT_EQ(back, x) << probe.name;
  }
}

TEST(Lanes, ScaleByPowerRoundsOnce) {
  Lanes x, n;
  for (int turn = -16; turn < 16; ++turn) {
    for (size_t i = 0; i < 16; ++i) {
      x[i] = 1 + static_cast<float>(uniform_at(4, 0, static_cast<uint64_t>(turn + 16) * 16 + i));
      n[i] = static_cast<float>(std::clamp(turn * 10 + static_cast<int>(i), -151, 129));
    }
    for (const LaneProbe& probe : usable_probes()) {
      Lanes out;
      probe.scale_by_power(x.data(), n.data(), out.data());
      for (size_t i = 0; i < 16; ++i)
        EXPECT_EQ(out[i], std::ldexp(x[i], static_cast<int>(n[i]))) << probe.name << ' ' << n[i];
    }
  }
}

TEST(Lanes, BytesAreLookedUp) {
  std::array<uint8_t, 16> table;
  std::array<int32_t, 16> words;
  for (size_t i = 0; i < 16; ++i) {
    table[i] = static_cast<uint8_t>(37 * i + 128);
    words[i] = static_cast<int32_t>(0x9E3779B9U * (i + 1));
  }
  for (const LaneProbe& probe : usable_probes()) {
    Lanes out;
    probe.look_up(table.data(), words.data(), out.data());
    for (size_t i = 0; i < 16; ++i) {
      for (size_t c = 0; c < 4; ++c) {
        const size_t idx = (static_cast<uint32_t>(words[i]) >> (8 * c)) & 15U;
        EXPECT_EQ((bits(out[i]) >> (8 * c)) & 255U, table[idx]) << probe.name << " lane " << i << " byte " << c;
      }
    }
  }
}

/// |result - exact| in units of the last place of the exact value (of the smallest subnormal at the bottom).
double ulps(float result, double exact) {
  if (exact > static_cast<double>(std::numeric_limits<float>::max())) return std::isinf(result) ? 0 : INFINITY;
  const double ulp = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);  // ilogb(0) is far below
  return std::abs(result - exact) / ulp;
}

TEST(Exp, IsWithinTwoUlpOverAllFloats) {
  constexpr uint32_t kStep = 1009;  // a prime, so that all low bits are met
  constexpr double kMaxUlps = 2;
  std::vector<float> x;
  for (uint64_t b = 0; b < (uint64_t{1} << 32); b += kStep) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(b));
    if (std::abs(value) < 200) x.push_back(value);
  }
  std::vector<float> out(x.size());
  std::vector<double> exact(x.size());
  for (size_t i = 0; i < x.size(); ++i) exact[i] = std::exp(static_cast<double>(x[i]));
  for (const LaneProbe& probe : usable_probes()) {
    probe.exp(x.data(), static_cast<int64_t>(x.size()), out.data());
    for (size_t i = 0; i < x.size(); ++i) ASSERT_LE(ulps(out[i], exact[i]), kMaxUlps) << probe.name << " x " << x[i];
  }
}

/// The relative error too: that of the smallest arguments is no larger than that of 1.
TEST(Tanh, IsWithinThreeUlpOverAllFloats) {
  constexpr uint32_t kStep = 1009;
  constexpr double kMaxUlps = 3;
  std::vector<float> x;
  for (uint64_t b = 0; b < (uint64_t{1} << 32); b += kStep) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(b));
    if (std::abs(value) < 200) x.push_back(value);
  }
  std::vector<float> out(x.size());
  for (const LaneProbe& probe : usable_probes()) {
    probe.tanh(x.data(), static_cast<int64_t>(x.size()), out.data());
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = std::tanh(static_cast<double>(x[i]));
      ASSERT_LE(ulps(out[i], exact), kMaxUlps) << probe.name << " x " << x[i];
    }
  }
}

TEST(Tanh, SpecialValues) {
  const std::vector<float> x = {INFINITY, 1e30F, 9.02F, -INFINITY, -1e30F, -9.02F, 0.0F, -0.0F, kNaN, -kNaN};
  for (const LaneProbe& probe : usable_probes()) {
    std::vector<float> out(x.size());
    probe.tanh(x.data(), static_cast<int64_t>(x.size()), out.data());
    for (const size_t i : {0, 1, 2}) EXPECT_EQ(out[i], 1.0F) << probe.name;
    for (const size_t i : {3, 4, 5}) EXPECT_EQ(out[i], -1.0F) << probe.name;
    for (const size_t i : {6, 7}) EXPECT_EQ(bits(out[i]), bits(x[i])) << probe.name;
    for (const size_t i : {8, 9}) EXPECT_TRUE(std::isnan(out[i])) << probe.name;
  }
}

TEST(Exp, SpecialValues) {
  const std::vector<float> x = {-INFINITY, -1e30F, -104.0F, 89.0F, 1e30F,    INFINITY,
                                kNaN,      -kNaN,  0.0F,    -0.0F, 88.72283F};
  for (const LaneProbe& probe : usable_probes()) {
    std::vector<float> out(x.size());
    probe.exp(x.data(), static_cast<int64_t>(x.size()), out.data());
    for (const size_t i : {0, 1, 2}) EXPECT_EQ(bits(out[i]), 0U) << probe.name;
    for (const size_t i : {3, 4, 5}) EXPECT_EQ(out[i], INFINITY) << probe.name;
    for (const size_t i : {6, 7}) EXPECT_TRUE(std::isnan(out[i])) << probe.name;
    for (const size_t i : {8, 9}) EXPECT_EQ(out[i], 1.0F) << probe.name;
    EXPECT_TRUE(std::isfinite(out[10])) << probe.name << ": the largest argument below overflow";
  }
}

}  // namespace
}  // namespace vitro::testing
#endif
