// Every table against the reference twins: row lengths x misalignments, tolerances c * eps * sqrt(k) with c named;
// special values; and proof that a table asked for by name is the code that runs.
#include <set>

#include "kernels/kernels_test_util.h"
#include "tensor/quant_block.h"

namespace vitro::testing {
namespace {

/// A float32 sum of k terms in sixteen lanes is off by about eps * sqrt(k) of its size; kSumSlack allows for the worst
/// of many tries.
constexpr double kSumSlack = 4;
/// Element-wise kernels round a handful of times.
constexpr double kFewRoundings = 4;

/// One kernel call on (x, out) of a table.
template <class Call>
void compare_rows(const char* what, double magnitude, double tolerance_of_max, Call call) {
  for (const KernelTable* table : usable_tables()) {
    for (const int64_t n : kLengths) {
      for (const int64_t offset : {0, 1, 3}) {
        Row x(random_values(n, 11, magnitude), offset), out(std::vector<float>(n), offset), expected = out;
        call(*table, x.data(), n, out.data());
        call(kReferenceTable, x.data(), n, expected.data());
        const double tolerance = tolerance_of_max * std::sqrt(n) * largest(expected);
        for (int64_t i = 0; i < n; ++i) {
          ASSERT_NEAR(out[i], expected[i], tolerance) << what << " " << table->name << " n=" << n << " i=" << i;
        }
      }
    }
  }
}

TEST(Norm, RmsNormMatchesTheTwin) {
  const std::vector<float> gain = random_values(5000, 5, 2);
  for (const float gain_offset : {0.0F, 1.0F}) {
    for (const float* g : {gain.data(), static_cast<const float*>(nullptr)}) {
      compare_rows("rms_norm", 3, kSumSlack * kEps, [&](const KernelTable& table, float* x, int64_t n, float* out) {
        table.rms_norm({.x = x, .gain = g, .gain_offset = gain_offset, .eps = 1e-5F, .n = n, .out = out});
      });
    }
  }
}

TEST(Norm, LayerNormMatchesTheTwin) {
  const std::vector<float> gain = random_values(5000, 5, 2), bias = random_values(5000, 6, 2);
  for (const bool is_plain : {true, false}) {
    compare_rows("layer_norm", 3, kSumSlack * kEps, [&](const KernelTable& table, float* x, int64_t n, float* out) {
      table.layer_norm({.x = x,
                        .gain = is_plain ? nullptr : gain.data(),
                        .bias = is_plain ? nullptr : bias.data(),
                        .eps = 1e-5F,
                        .n = n,
                        .out = out});
    });
  }
}

TEST(Norm, EpsIsInsideTheRoot) {
  const std::vector<float> x(16, 0.5F);
  for (const KernelTable* table : usable_tables()) {
    std::vector<float> out(16);
    table->rms_norm({.x = x.data(), .eps = 0.75F, .n = 16, .out = out.data()});  // 0.5 / sqrt(0.25 + 0.75)
    EXPECT_EQ(out, std::vector<float>(16, 0.5F)) << table->name;
  }
}

TEST(Norm, WorksInPlace) {
  for (const KernelTable* table : usable_tables()) {
    const std::vector<float> x = random_values(77, 2);
    std::vector<float> apart(77), in_place = x;
    table->layer_norm({.x = x.data(), .eps = 1e-6F, .n = 77, .out = apart.data()});
    table->layer_norm({.x = in_place.data(), .eps = 1e-6F, .n = 77, .out = in_place.data()});
    EXPECT_TRUE(same_bits(in_place, apart)) << table->name;
  }
}

/// The mean is far larger than the spread: a variance from E[x^2] - E[x]^2 would lose everything here.
TEST(Norm, LayerNormKeepsASmallSpreadOnALargeMean) {
  std::vector<float> x = random_values(512, 3);
  for (float& value : x) value += 1000;
  std::vector<float> out(512), expected(512);
  kReferenceTable.layer_norm({.x = x.data(), .eps = 1e-5F, .n = 512, .out = expected.data()});
  for (const KernelTable* table : usable_tables()) {
    table->layer_norm({.x = x.data(), .eps = 1e-5F, .n = 512, .out = out.data()});
    // The mean is known to eps * 1000 * sqrt(512 / 16) at worst; the spread is about 0.58.
    for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(out[i], expected[i], kEps * 1000 * 6 / 0.58) << table->name;
  }
}

TEST(Rope, MatchesTheTwinAndLeavesTheRestAlone) {
  constexpr int64_t kHeads = 3;
  for (const KernelTable* table : usable_tables()) {
    for (const int64_t n_pairs : {1, 2, 7, 8, 15, 16, 17, 32, 40, 65}) {
      for (const int64_t d_rest : {0, 1, 6}) {
        for (const bool is_adjacent : {false, true}) {
          const int64_t d_head = 2 * n_pairs + d_rest;
          Row x(random_values(kHeads * d_head, 1), 1), expected = x, cos(random_values(n_pairs, 2), 3),
                                                       sin(random_values(n_pairs, 3), 2);
          RopeArgs args{x.data(), kHeads, d_head, n_pairs, cos.data(), sin.data(), is_adjacent};
          table->rope(args);
          args.x = expected.data();
          kReferenceTable.rope(args);
          for (int64_t i = 0; i < x.size(); ++i) {
            ASSERT_NEAR(x[i], expected[i], 2 * kEps) << table->name << " pairs " << n_pairs << " i " << i;
            if (i % d_head >= 2 * n_pairs) {
              ASSERT_EQ(bits(x[i]), bits(expected[i]));
            }
          }
        }
      }
    }
  }
}

TEST(Activation, MatchesTheTwin) {
  for (int f = 0; f < kNActivations; ++f) {
    for (const double magnitude : {1.0, 12.0}) {
      compare_rows("activate", magnitude, kFewRoundings * kEps,
                   [f](const KernelTable& table, float* x, int64_t n, float* out) { table.activate[f](x, n, out); });
      const std::vector<float> up = random_values(5000, 9);
      compare_rows("activate_gate", magnitude, kFewRoundings * kEps,
                   [&](const KernelTable& table, float* gate, int64_t n, float* out) {
                     table.activate_gate[f](gate, up.data(), n, out);
                   });
    }
  }
}

/// A dense scan of the interesting range: absolute error 2e-7 relative to max(1, |x|).
TEST(Activation, IsAccurateEverywhere) {
  constexpr double kTolerance = 2e-7;
  std::vector<float> x;
  for (float value = -30; value < 30; value += 1.0F / 2048) x.push_back(value);
  for (const float value : {-1e30F, -1000.0F, -104.5F, -88.8F, -1e-30F, -0.0F, 0.0F, 1e-40F, 88.8F, 1e4F, 3e38F})
    x.push_back(value);
  const auto n = static_cast<int64_t>(x.size());
  std::vector<float> out(x.size()), expected(x.size());
  for (const KernelTable* table : usable_tables()) {
    for (int f = 0; f < kNActivations; ++f) {
      table->activate[f](x.data(), n, out.data());
      kReferenceTable.activate[f](x.data(), n, expected.data());
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_NEAR(out[i], expected[i], kTolerance * std::max(1.0, std::abs(static_cast<double>(x[i]))))
            << table->name << " f " << f << " x " << x[i];
      }
    }
  }
}

TEST(Activation, NaNStaysNaN) {
  const std::vector<float> x(17, kNaN);
  std::vector<float> out(17);
  for (const KernelTable* table : usable_tables()) {
    for (int f = 0; f < kNActivations; ++f) {
      table->activate[f](x.data(), 17, out.data());
      for (const float y : out) EXPECT_TRUE(std::isnan(y)) << table->name << " f " << f;
    }
  }
}

TEST(Elementwise, AddAndScaleAreExact) {
  for (const KernelTable* table : usable_tables()) {
    for (const int64_t n : kLengths) {
      Row a(random_values(n, 1), 1), b(random_values(n, 2), 2), sum(std::vector<float>(n), 3), product = sum;
      table->add(a.data(), b.data(), n, sum.data());
      table->scale(a.data(), 0.3F, n, product.data());
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(sum[i], a[i] + b[i]) << table->name << " n " << n;
        ASSERT_EQ(product[i], a[i] * 0.3F) << table->name << " n " << n;
      }
    }
  }
}

TEST(LogSumExp, MatchesTheTwin) {
  for (const KernelTable* table : usable_tables()) {
    for (const int64_t n : kLengths) {
      for (const double magnitude : {1.0, 30.0, 1e4}) {
        Row x(random_values(n, 4, magnitude), 1);
        const double expected = kReferenceTable.log_sum_exp(x.data(), n);
        const double result = table->log_sum_exp(x.data(), n);
        if (n == 0) {
          EXPECT_EQ(result, -INFINITY) << table->name;
        } else {
          // A lane's e^x is within 2 ulp, x - max within half a unit of its size: both are relative errors of the sum.
          EXPECT_NEAR(result, expected, kFewRoundings * kEps * std::max(1.0, std::log(n))) << table->name << " n " << n;
        }
      }
    }
  }
}

TEST(LogSumExp, SpecialValues) {
  for (const KernelTable* table : usable_tables()) {
    std::vector<float> x(20, -INFINITY);
    EXPECT_EQ(table->log_sum_exp(x.data(), 20), -INFINITY) << table->name;
    x[3] = 2;
    EXPECT_EQ(table->log_sum_exp(x.data(), 20), 2.0) << table->name;
    x[18] = INFINITY;
    EXPECT_EQ(table->log_sum_exp(x.data(), 20), INFINITY) << table->name;
    x[18] = kNaN;
    EXPECT_TRUE(std::isnan(table->log_sum_exp(x.data(), 20))) << table->name;
    EXPECT_TRUE(std::isnan(table->log_sum_exp(&x[18], 1))) << table->name;
  }
}

TEST(Tables, AreFoundByTheirNames) {
  std::string names;
  for (const KernelTable* table : usable_tables()) {
    EXPECT_EQ(find_kernel_table(table->name), table);
    names += (names.empty() ? "" : ", ") + std::string(table->name);
  }
  EXPECT_EQ(available_kernel_tables(), names);
  EXPECT_EQ(&best_kernel_table(), usable_tables().front());
  EXPECT_EQ(find_kernel_table("sse9"), nullptr);
  EXPECT_EQ(find_kernel_table(""), nullptr);
}

TEST(Tables, EveryEntryIsFilledAndIsCodeOfItsOwn) {
  std::set<const void*> seen;
  const auto is_new = [&seen](auto function) {
    return function != nullptr && seen.insert(reinterpret_cast<const void*>(function)).second;
  };
  for (const KernelTable* table : usable_tables()) {
    EXPECT_TRUE(is_new(table->rms_norm)) << table->name;
    EXPECT_TRUE(is_new(table->layer_norm)) << table->name;
    EXPECT_TRUE(is_new(table->rope)) << table->name;
    EXPECT_TRUE(is_new(table->attend)) << table->name;
    EXPECT_TRUE(is_new(table->attend_probs)) << table->name;
    EXPECT_TRUE(is_new(table->add)) << table->name;
    EXPECT_TRUE(is_new(table->scale)) << table->name;
    EXPECT_TRUE(is_new(table->log_sum_exp)) << table->name;
    for (int f = 0; f < kNActivations; ++f) {
      EXPECT_TRUE(is_new(table->activate[f])) << table->name;
      EXPECT_TRUE(is_new(table->activate_gate[f])) << table->name;
    }
    for (const DType dtype : kPanelTypes) {
      EXPECT_TRUE(is_new(table->matmul[static_cast<int>(dtype)])) << table->name;
    }
    EXPECT_EQ(table->matmul[static_cast<int>(DType::kBool)], nullptr) << table->name;
  }
}

/// The forced table really ran: one key makes lse the score itself, and q k = -(1 + 2^-11) + (1 + 2^-12)^2, whose last
/// bit 2^-24 only a fused multiply-add (or the twin's doubles) keeps. x86-64-v2 rounds the product and gets exactly
/// zero.
TEST(Tables, ScoresShowWhetherMultiplyAddIsFused) {
  const float q[2] = {1, 1 + 0x1p-12F};
  float page[32] = {};
  page[0] = -(1 + 0x1p-11F);
  page[8] = 1 + 0x1p-12F;
  const int32_t page_ids[1] = {0};
  alignas(64) float scratch[attend_scratch_floats(2)];
  for (const KernelTable* table : usable_tables()) {
    float z[2], lse = kNaN;
    const AttendRow row{.q = q, .z = z, .lse = &lse, .first_pos = 0, .last_pos = 0};
    table->attend(
        {.kv = {page, page + 16, page_ids, 32, 8, 2}, .rows = &row, .n_rows = 1, .scale = 1, .scratch = scratch});
    EXPECT_EQ(lse, std::string(table->name) == "v2" ? 0.0F : 0x1p-24F) << table->name;
  }
}

}  // namespace
}  // namespace vitro::testing
