// ALiBi against NumPy float64 (tests/data/model/alibi.json, by tools/make_position_expectations.py): slopes of every
// count of heads, and the biases of a table in both of its forms.
#include "model/alibi.h"

#include <gtest/gtest.h>

#include "formats/json.h"
#include "testing/data_file.h"

namespace vitro {
namespace {

using testing::reals;

const Value& expectations() {
  static const Value value = testing::json_file("tests/data/model/alibi.json");
  return value;
}

TEST(AlibiTest, SlopesOfEveryCountOfHeads) {
  int n_cases = 0;
  for (const Value& c : *expectations().find("slopes")->as_array()) {
    const int64_t n_head = *c.find("n_head")->as_int(), max_bias = *c.find("max_bias")->as_int();
    SCOPED_TRACE(fmt::format("{} heads, max bias {}", n_head, max_bias));
    const std::vector<float> slopes = alibi_slopes(n_head, static_cast<double>(max_bias));
    const std::vector<double> expected = reals(c, "slopes");
    ASSERT_EQ(slopes.size(), expected.size());
    for (size_t h = 0; h < slopes.size(); ++h) EXPECT_EQ(slopes[h], static_cast<float>(expected[h])) << h;
    ++n_cases;
  }
  EXPECT_EQ(n_cases, 2 * 70);
}

/// A table with room for n_positions, filled for n_keys of them; untouched columns keep the mark.
struct Table {
  static constexpr float kMark = 777.0F;
  Table(const AttentionSpec& spec, int64_t n_keys, int64_t n_positions)
      : values(static_cast<size_t>(spec.n_head * n_positions), kMark),
        rows{values.data(), spec.n_head, n_positions},
        slopes(alibi_slopes(spec.n_head, spec.alibi_max_bias)) {
    fill_alibi(spec, slopes, n_keys, n_positions, rows);
  }
  std::vector<float> values;
  Rows rows;
  std::vector<float> slopes;
};

TEST(AlibiTest, TheTableHoldsSlopeTimesDistance) {
  const int64_t n_keys = 5, n_positions = 8;
  const Table table({.n_head = 3, .scale = 0.25, .alibi_max_bias = 8.0}, n_keys, n_positions);
  for (int64_t h = 0; h < 3; ++h) {
    for (int64_t distance = 0; distance < n_positions; ++distance) {
      const float expected =
          distance < n_keys ? -table.slopes[static_cast<size_t>(h)] * static_cast<float>(distance) : Table::kMark;
      EXPECT_EQ(table.rows.row(h)[n_positions - 1 - distance], expected) << h << " " << distance;
    }
  }
}

TEST(AlibiTest, ABiasBeforeTheScaleIsScaled) {
  const AttentionSpec plain{.n_head = 2, .scale = 0.25, .alibi_max_bias = 8.0};
  AttentionSpec scaled = plain;
  scaled.alibi_factor = scaled.scale;
  const Table a(plain, 8, 8), b(scaled, 8, 8);
  for (size_t i = 0; i < a.values.size(); ++i) EXPECT_EQ(b.values[i], 0.25F * a.values[i]);
}

TEST(AlibiTest, RoundsToBfloat16AtEveryStep) {
  const Value& c = *expectations().find("bf16");
  const int64_t n_head = *c.find("n_head")->as_int();
  const Table table({.n_head = n_head, .alibi_max_bias = 8.0, .is_alibi_bf16 = true}, 2048, 2048);
  const std::vector<double> positions = reals(c, "positions");
  for (int64_t h = 0; h < n_head; ++h) {
    const Value::Array& row = *(*c.find("bias")->as_array())[static_cast<size_t>(h)].as_array();
    for (size_t i = 0; i < positions.size(); ++i) {
      const auto pos = static_cast<int64_t>(positions[i]);
      EXPECT_EQ(table.rows.row(h)[pos], static_cast<float>(testing::real_of(row[i]))) << h << " " << pos;
    }
  }
}

}  // namespace
}  // namespace vitro
