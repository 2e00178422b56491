// Rounding to the types of the cache: every table against NumPy and the gguf package, byte for byte
// (tests/data/kernels/cache_encode.bin, tools/make_cache_expectations.py), and against the twin on many more numbers.
#include <bit>
#include <fstream>
#include <iterator>

#include "kernels/kernels_test_util.h"
#include "kernels/reference/reference.h"
#include "testing/shared_data.h"

namespace vitro::testing {
namespace {

using Bytes = std::vector<std::byte>;

struct Expectation {
  CacheType type;
  int64_t scale_block;
  std::vector<float> x;
  Bytes elements;
  Bytes scales;
  std::vector<float> values;
};

template <class T>
std::vector<T> take(const std::string& bytes, size_t& at, size_t count) {
  std::vector<T> out(count);
  EXPECT_LE(at + count * sizeof(T), bytes.size());
  if (count > 0) std::memcpy(out.data(), bytes.data() + at, count * sizeof(T));
  at += count * sizeof(T);
  return out;
}

std::vector<Expectation> read_expectations() {
  std::ifstream file(repo_path("tests/data/kernels/cache_encode.bin"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<Expectation> all;
  for (size_t at = 0; at < bytes.size();) {
    const std::vector<char> name = take<char>(bytes, at, 8);
    const std::vector<uint32_t> header = take<uint32_t>(bytes, at, 3);
    const size_t n = header[0], n_scales = header[1] == 0 ? 0 : n / header[1];
    Expectation e{cache_type_from_name(name.data()).value(), header[1], take<float>(bytes, at, n), {}, {}, {}};
    e.elements = take<std::byte>(bytes, at, n * header[2]);
    e.scales = take<std::byte>(bytes, at, n_scales * 2);
    e.values = take<float>(bytes, at, n);
    all.push_back(std::move(e));
  }
  return all;
}

/// What encode wrote, into memory of exactly the size.
struct Encoded {
  Bytes elements;
  Bytes scales;
};

Encoded encode(const KernelTable& table, CacheType type, Row& x, int64_t scale_block) {
  const int64_t n = x.size(), n_scales = scale_block == 0 ? 0 : n / scale_block;
  Encoded out{Bytes(static_cast<size_t>(n * cache_type_info(type).element_bytes), std::byte{0x55}),
              Bytes(static_cast<size_t>(n_scales * 2), std::byte{0x55})};
  table.encode[static_cast<int>(type)]({.x = x.data(),
                                        .n = n,
                                        .scale_block = scale_block,
                                        .elements = out.elements.data(),
                                        .scales = out.scales.data()});
  return out;
}

/// NaN agrees with NaN, whatever its payload; all else bit for bit.
void expect_same_values(const std::vector<float>& actual, const std::vector<float>& expected, CacheType type) {
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(actual[i]) && std::isnan(expected[i])) continue;
    ASSERT_EQ(bits(actual[i]), bits(expected[i]))
        << cache_type_info(type).name << " value " << i << ": " << actual[i] << ", expected " << expected[i];
  }
}

TEST(Encode, MatchesNumPyAndTheGgufPackage) {
  const std::vector<Expectation> all = read_expectations();
  ASSERT_GT(all.size(), 200U);
  for (const Expectation& e : all) {
    const std::string what = std::string(cache_type_info(e.type).name) + " of " + std::to_string(e.x.size()) +
                             " numbers beginning " + std::to_string(e.x[0]);
    for (const KernelTable* table : usable_tables()) {
      for (const int64_t offset : {0, 1, 3}) {
        Row x(e.x, offset);
        const Encoded out = encode(*table, e.type, x, e.scale_block);
        ASSERT_EQ(out.elements, e.elements) << table->name << " " << what;
        ASSERT_EQ(out.scales, e.scales) << table->name << " " << what;
        std::vector<float> values;
        for (size_t i = 0; i < e.x.size(); ++i) {
          const std::byte* scale = e.scales.empty() ? nullptr : &out.scales[i / static_cast<size_t>(e.scale_block) * 2];
          values.push_back(reference::stored_value(e.type, &out.elements[i * out.elements.size() / e.x.size()], scale));
        }
        ASSERT_NO_FATAL_FAILURE(expect_same_values(values, e.values, e.type)) << table->name << " " << what;
      }
    }
  }
}

TEST(Encode, TablesWriteTheTwinsBytes) {
  for (const int64_t block : {1, 7, 16, 31, 32, 33, 80, 256}) {
    for (int t = 0; t < kNCacheTypes; ++t) {
      const auto type = static_cast<CacheType>(t);
      const int64_t scale_block = cache_type_info(type).scale_block == 0 ? 0 : block;
      for (const double magnitude : {1e-39, 1e-6, 1.0, 3e4, 1e38}) {
        for (uint64_t seed = 0; seed < 20; ++seed) {
          Row x(random_values(3 * block, seed, magnitude), static_cast<int64_t>(seed % 4));
          const Encoded expected = encode(kReferenceTable, type, x, scale_block);
          for (const KernelTable* table : fast_tables()) {
            const Encoded out = encode(*table, type, x, scale_block);
            ASSERT_EQ(out.elements, expected.elements)
                << table->name << " " << cache_type_info(type).name << " " << block;
            ASSERT_EQ(out.scales, expected.scales) << table->name << " " << cache_type_info(type).name << " " << block;
          }
        }
      }
    }
  }
}

/// Every float32 in steps, with a scale of one: all bytes that rounding can give, all NaN and both infinities among
/// them.
TEST(Encode, TablesRoundEveryFloatAsTheTwin) {
  constexpr uint32_t kStep = 9973;  // a prime, so that all low bits are met
  std::vector<float> numbers;
  for (uint64_t b = 0; b < (uint64_t{1} << 32); b += kStep) {
    numbers.push_back(std::bit_cast<float>(static_cast<uint32_t>(b)));
  }
  Row x(numbers, 0);
  for (const CacheType type : {CacheType::kF32, CacheType::kF16, CacheType::kBF16}) {
    const Encoded expected = encode(kReferenceTable, type, x, 0);
    for (const KernelTable* table : fast_tables()) {
      EXPECT_EQ(encode(*table, type, x, 0).elements, expected.elements)
          << table->name << " " << cache_type_info(type).name;
    }
  }
  for (const CacheType type : {CacheType::kInt8, CacheType::kFp8}) {
    const float largest = type == CacheType::kInt8 ? 127.0F : 448.0F;
    std::vector<float> fitting = {largest};
    for (const float number : numbers) {
      if (std::abs(number) <= largest) fitting.push_back(number);
    }
    Row y(fitting, 0);
    const Encoded expected = encode(kReferenceTable, type, y, y.size());
    for (const KernelTable* table : fast_tables()) {
      EXPECT_EQ(encode(*table, type, y, y.size()).elements, expected.elements) << table->name;
    }
  }
}

TEST(Encode, ABlockWithNaNOrInfinityReadsAsNaN) {
  for (const KernelTable* table : usable_tables()) {
    for (const CacheType type : {CacheType::kQ8_0, CacheType::kInt8, CacheType::kFp8}) {
      for (const float bad : {kNaN, -kNaN, INFINITY, -INFINITY}) {
        for (const size_t at : {0, 15, 16, 31, 40, 63}) {
          std::vector<float> numbers = random_values(64, 3);
          numbers[at] = bad;
          Row x(numbers, 1);
          const Encoded out = encode(*table, type, x, 32);
          for (size_t i = 0; i < 64; ++i) {
            const float value = reference::stored_value(type, &out.elements[i], &out.scales[i / 32 * 2]);
            ASSERT_EQ(std::isnan(value), i / 32 == at / 32) << table->name << " " << cache_type_info(type).name;
            ASSERT_TRUE(!std::isnan(value) || out.elements[i] == std::byte{0}) << table->name;
          }
          const Encoded expected = encode(kReferenceTable, type, x, 32);
          ASSERT_EQ(out.scales, expected.scales) << table->name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace vitro::testing
