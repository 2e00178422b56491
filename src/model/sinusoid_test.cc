// Sinusoidal positions against NumPy float64 (tests/data/model/sinusoid.json, by tools/make_position_expectations.py).
#include "model/sinusoid.h"

#include <gtest/gtest.h>

#include <cmath>

#include "formats/json.h"
#include "testing/data_file.h"

namespace vitro {
namespace {

using testing::reals;

/// Half a unit in the last place of a value up to 1, and what the angle itself is rounded by.
double tolerance(int64_t pos) { return std::ldexp(1.0, -25) + static_cast<double>(pos) * std::ldexp(1.0, -50); }

TEST(SinusoidTest, BothLayoutsHoldThePapersValues) {
  const Value cases = testing::json_file("tests/data/model/sinusoid.json");
  ASSERT_EQ(cases.as_array()->size(), 21u);
  for (const Value& c : *cases.as_array()) {
    const int64_t d_model = *c.find("d_model")->as_int(), pos = *c.find("pos")->as_int();
    SCOPED_TRACE(fmt::format("d_model {}, position {}", d_model, pos));
    const auto n = static_cast<size_t>(d_model / 2);
    std::vector<float> adjacent(2 * n), halves(2 * n);
    const std::vector<double> frequencies = sinusoid_frequencies(d_model);
    ASSERT_EQ(frequencies.size(), n);
    fill_sinusoid(frequencies, pos, true, adjacent.data());
    fill_sinusoid(frequencies, pos, false, halves.data());
    const std::vector<double> sin = reals(c, "sin"), cos = reals(c, "cos");
    for (size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(adjacent[2 * i], sin[i], tolerance(pos)) << i;
      EXPECT_NEAR(adjacent[2 * i + 1], cos[i], tolerance(pos)) << i;
      EXPECT_EQ(halves[i], adjacent[2 * i]) << i;
      EXPECT_EQ(halves[n + i], adjacent[2 * i + 1]) << i;
    }
  }
}

}  // namespace
}  // namespace vitro
