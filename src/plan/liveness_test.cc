#include "plan/liveness.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace vitro {
namespace {

bool share_time(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

TEST(Liveness, BuffersThatNeverMeetShareBytes) {
  const std::vector<Lifetime> buffers{{128, 0, 1}, {128, 2, 3}, {64, 0, 3}};
  const Placement placement = place_buffers(buffers);
  EXPECT_EQ(placement.offsets[0], placement.offsets[1]);
  EXPECT_EQ(placement.n_bytes, 192);
}

TEST(Liveness, BorderMomentCountsAsAlive) {
  const std::vector<Lifetime> buffers{{64, 0, 2}, {64, 2, 4}};
  EXPECT_EQ(place_buffers(buffers).n_bytes, 128);
}

TEST(Liveness, RandomBuffersNeverOverlapWhileAlive) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    uint64_t at = 0;
    const auto draw = [&](int n) { return static_cast<int>(uniform_at(seed, 0, at++) * n); };
    std::vector<Lifetime> buffers;
    for (int i = 0; i < 20; ++i) {
      const int first = draw(15);
      buffers.push_back({draw(5) == 0 ? 0 : draw(1000), first, first + draw(6)});
    }
    const Placement placement = place_buffers(buffers);
    int64_t sum = 0, peak = 0;
    for (size_t a = 0; a < buffers.size(); ++a) {
      EXPECT_EQ(placement.offsets[a] % 64, 0);
      EXPECT_LE(placement.offsets[a] + buffers[a].n_bytes, placement.n_bytes);
      sum += (buffers[a].n_bytes + 63) / 64 * 64;
      for (size_t b = a + 1; b < buffers.size(); ++b) {
        if (!share_time(buffers[a], buffers[b]) || buffers[a].n_bytes == 0 || buffers[b].n_bytes == 0) continue;
        const bool is_apart = placement.offsets[a] + buffers[a].n_bytes <= placement.offsets[b] ||
                              placement.offsets[b] + buffers[b].n_bytes <= placement.offsets[a];
        EXPECT_TRUE(is_apart) << "seed " << seed << ": " << a << " and " << b;
      }
    }
    for (int moment = 0; moment < 21; ++moment) {
      int64_t alive = 0;
      for (const Lifetime& buffer : buffers)
        alive += buffer.first <= moment && moment <= buffer.last ? buffer.n_bytes : 0;
      peak = std::max(peak, alive);
    }
    EXPECT_GE(placement.n_bytes, peak);
    EXPECT_LE(placement.n_bytes, sum);
  }
}

}  // namespace
}  // namespace vitro
