// The ops that add something to their kernels: which gain a head gets, which bias a query row gets, and that threads
// change no bit. (What kernels compute is tested in kernels/.)
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "ops/attend.h"
#include "ops/elementwise.h"
#include "ops/norm.h"

namespace vitro {
namespace {

std::vector<float> random_values(int64_t n, uint64_t seed, double magnitude = 1) {
  std::vector<float> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>((2 * uniform_at(seed, 0, i) - 1) * magnitude);
  }
  return values;
}

/// A pool of some threads and the best kernels.
struct Engine {
  explicit Engine(int n_threads) : pool(n_threads) {}
  ThreadPool pool;
  OpContext ctx{&best_kernel_table(), &pool};
};

constexpr int64_t kTokens = 11, kHeads = 3, kWidth = 20;

TEST(Elementwise, BoundsWorkInPlaceAndBetweenStrides) {
  constexpr float kUntouched = 77;
  for (const int n_threads : {1, 3}) {
    Engine engine(n_threads);
    const std::vector<float> x = random_values(kTokens * (kWidth + 1), 1, 5);
    std::vector<float> capped = x, clamped = x;
    for (int64_t t = 0; t < kTokens; ++t) {
      capped[static_cast<size_t>(t * (kWidth + 1) + kWidth)] = kUntouched;
    }
    softcap({capped.data(), kTokens, kWidth, kWidth + 1}, 2, engine.ctx);
    clamp({clamped.data(), kTokens, kWidth + 1}, 1.5F, engine.ctx);
    for (size_t i = 0; i < x.size(); ++i) {
      const bool is_between = i % (kWidth + 1) == kWidth;
      EXPECT_NEAR(capped[i], is_between ? kUntouched : 2 * std::tanh(x[i] / 2), 1e-6);
      EXPECT_EQ(clamped[i], std::clamp(x[i], -1.5F, 1.5F));
    }
  }
}

/// norm(x) of one head, from the formula in double.
double normalized(const NormOp& op, const float* x, int64_t head, int64_t i) {
  double mean = 0, square = 0;
  for (int64_t j = 0; j < kWidth; ++j) mean += op.kind == NormOp::Kind::kRms ? 0.0 : x[j] / double{kWidth};
  for (int64_t j = 0; j < kWidth; ++j) square += (x[j] - mean) * (x[j] - mean) / kWidth;
  const int64_t at = head * op.gain_stride + i;
  const double gain = op.gain == nullptr ? 1.0 : static_cast<double>(op.gain[at]) + op.gain_offset;
  return (x[i] - mean) / std::sqrt(square + op.eps) * gain + (op.bias == nullptr ? 0.0 : op.bias[at]);
}

TEST(Norm, HeadsShareAGainOrHaveOneEach) {
  const std::vector<float> gain = random_values(kHeads * kWidth, 2, 2), bias = random_values(kHeads * kWidth, 3);
  const std::vector<float> x = random_values(kTokens * kHeads * kWidth, 4, 3);
  for (const NormOp::Kind kind : {NormOp::Kind::kRms, NormOp::Kind::kLayerNorm}) {
    for (const int64_t gain_stride : {int64_t{0}, kWidth}) {
      for (const bool has_bias : {false, true}) {
        const NormOp op{.kind = kind,
                        .gain = gain.data(),
                        .bias = has_bias ? bias.data() : nullptr,
                        .gain_offset = 0.5F,
                        .eps = 1e-5F,
                        .gain_stride = gain_stride};
        Engine engine(3);
        std::vector<float> out = x;
        normalize_heads(op, {out.data(), kTokens, kHeads * kWidth}, kWidth, engine.ctx);
        for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
          const int64_t head_row = i / kWidth;
          const double expected =
              normalized(op, &x[static_cast<size_t>(head_row * kWidth)], head_row % kHeads, i % kWidth);
          ASSERT_NEAR(out[static_cast<size_t>(i)], expected, 2e-6) << "stride " << gain_stride << " i " << i;
        }
      }
    }
  }
}

/// One sequence of kPositions positions, every one attended by itself and those before it.
struct AttendFixture {
  static constexpr int64_t kPositions = 150, kHead = 4, kKvHead = 2, kDim = 8, kPage = 8;

  std::vector<float> q = random_values(kPositions * kHead * kDim, 5, 2);
  std::vector<float> k = random_values(kKvHead * kPositions * kDim, 6),
                     v = random_values(kKvHead * kPositions * kDim, 7);
  std::vector<float> pages;
  std::vector<int32_t> page_ids;
  std::vector<KvHead> heads;
  static constexpr int64_t kPages = (kPositions + kPage - 1) / kPage, kPageFloats = 2 * kPage * kDim;

  AttendFixture() : pages(static_cast<size_t>(kKvHead * kPages * kPageFloats), NAN) {
    for (int32_t p = 0; p < kPages; ++p) page_ids.push_back(p);
    for (int64_t g = 0; g < kKvHead; ++g) {
      float* base = pages.data() + g * kPages * kPageFloats;
      for (int64_t pos = 0; pos < kPositions; ++pos) {
        for (int64_t i = 0; i < kDim; ++i) {
          float* page = base + pos / kPage * kPageFloats;
          page[i * kPage + pos % kPage] = key(g, pos)[i];
          page[kPage * kDim + pos % kPage * kDim + i] = value(g, pos)[i];
        }
      }
      const auto* bytes = reinterpret_cast<const std::byte*>(base);
      heads.push_back({.k_base = bytes,
                       .v_base = bytes + kPage * kDim * 4,
                       .page_ids = page_ids.data(),
                       .page_stride = kPageFloats * 4,
                       .page_size = kPage,
                       .d_head = kDim});
    }
  }
  const float* key(int64_t g, int64_t pos) const { return k.data() + (g * kPositions + pos) * kDim; }
  const float* value(int64_t g, int64_t pos) const { return v.data() + (g * kPositions + pos) * kDim; }

  std::vector<float> run(const AttendShape& shape, int n_threads) {
    Engine engine(n_threads);
    std::vector<float> z(q.size()), lse(static_cast<size_t>(kPositions * kHead));
    std::vector<float> scratch(static_cast<size_t>(n_threads * attend_scratch_floats(kDim)));
    const AttendSequence sequence{.n_rows = kPositions, .heads = heads};
    attend(shape, {&sequence, 1}, {q.data(), kPositions, kHead * kDim},
           {{z.data(), kPositions, kHead * kDim}, {lse.data(), kPositions, kHead}},
           {scratch.data(), n_threads, attend_scratch_floats(kDim)}, engine.ctx);
    return z;
  }

  /// z of one row and head from the formula, in double; bias(query position, key position) is added to scores.
  template <class Bias>
  std::vector<double> expected(const AttendShape& shape, int64_t pos, int64_t h, Bias bias) const {
    const int64_t g = h / (kHead / kKvHead);
    std::vector<double> z(kDim);
    double l = 0;
    for (int64_t s = shape.first_key(pos); s <= pos; ++s) {
      double dot = 0;
      for (int64_t i = 0; i < kDim; ++i)
        dot += static_cast<double>(q[static_cast<size_t>((pos * kHead + h) * kDim + i)]) * key(g, s)[i];
      const double x = dot * shape.scale;
      const double weight =
          std::exp((shape.softcap > 0 ? shape.softcap * std::tanh(x / shape.softcap) : x) + bias(pos, s));
      l += weight;
      for (int64_t i = 0; i < kDim; ++i) z[static_cast<size_t>(i)] += weight * value(g, s)[i];
    }
    for (double& x : z) x /= l;
    return z;
  }
};

/// Both kinds of bias say the same: -slope * distance, and slope * key, which differ by a constant of the row. The
/// columns that are never used are NaN.
TEST(Attend, BiasByDistanceAndByKey) {
  constexpr int64_t n = AttendFixture::kPositions, kColumns = n + kAttendTile;
  const float slopes[AttendFixture::kHead] = {0.5F, 0.25F, 0.0625F, 0};
  AttendFixture fixture;
  std::vector<float> by_distance(static_cast<size_t>(AttendFixture::kHead * kColumns), NAN), by_key = by_distance;
  for (int64_t h = 0; h < AttendFixture::kHead; ++h) {
    for (int64_t c = 0; c < n; ++c) {
      by_distance[static_cast<size_t>(h * kColumns + c)] = -slopes[h] * static_cast<float>(n - 1 - c);
      by_key[static_cast<size_t>(h * kColumns + c)] = slopes[h] * static_cast<float>(c);
    }
  }
  for (const int64_t window : {0, 40}) {
    for (const bool is_relative : {true, false}) {
      AttendShape shape{.n_head = AttendFixture::kHead,
                        .n_kv_head = AttendFixture::kKvHead,
                        .d_head = AttendFixture::kDim,
                        .window = window,
                        .scale = 0.4F,
                        .softcap = 3};
      shape.bias = {{(is_relative ? by_distance : by_key).data(), AttendFixture::kHead, kColumns}, is_relative};
      const std::vector<float> z = fixture.run(shape, 1);
      EXPECT_EQ(fixture.run(shape, 3), z);
      for (int64_t pos = 0; pos < n; ++pos) {
        for (int64_t h = 0; h < AttendFixture::kHead; ++h) {
          const std::vector<double> expected = fixture.expected(
              shape, pos, h, [&](int64_t t, int64_t s) { return -slopes[h] * static_cast<double>(t - s); });
          for (int64_t i = 0; i < AttendFixture::kDim; ++i) {
            const size_t at = static_cast<size_t>((pos * AttendFixture::kHead + h) * AttendFixture::kDim + i);
            // Scores of up to 75 are rounded to half a unit in the last place, 4e-6, before the exponential.
            ASSERT_NEAR(z[at], expected[static_cast<size_t>(i)], 1e-5) << "pos " << pos << " head " << h;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace vitro
