// What the kernel tests share: the tables to test, random rows at chosen misalignments, bit comparison.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/rng.h"
#include "kernels/isa/tables.h"
#include "kernels/table.h"

namespace vitro::testing {

inline constexpr double kEps = std::numeric_limits<float>::epsilon();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Row lengths around the lane count, odd ones and a large one (X3).
inline constexpr int64_t kLengths[] = {0, 1, 2, 15, 16, 17, 35, 63, 64, 65, 101, 576, 4099};

/// All tables that run here, the reference too (it is then compared with itself: a check of the test).
inline std::vector<const KernelTable*> usable_tables() {
  std::vector<const KernelTable*> tables;
  for (const char* name : {"avx512", "avx2", "v2", "reference"}) {
    if (const KernelTable* table = find_kernel_table(name)) tables.push_back(table);
  }
  return tables;
}

/// Those that are not the reference.
inline std::vector<const KernelTable*> fast_tables() {
  std::vector<const KernelTable*> tables = usable_tables();
  tables.pop_back();
  return tables;
}

/// n values in [-magnitude, magnitude), a function of the seed alone.
inline std::vector<float> random_values(int64_t n, uint64_t seed, double magnitude = 1) {
  std::vector<float> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>((2 * uniform_at(seed, 0, i) - 1) * magnitude);
  }
  return values;
}

/// A row that starts `offset` floats after an aligned address and ends where its memory ends, so that a sanitizer sees
/// any access beyond.
class Row {
 public:
  Row(const std::vector<float>& values, int64_t offset) : offset_(offset), data_(static_cast<size_t>(offset), 777.0F) {
    data_.insert(data_.end(), values.begin(), values.end());
    data_.shrink_to_fit();
  }
  float* data() { return data_.data() + offset_; }
  int64_t size() const { return static_cast<int64_t>(data_.size()) - offset_; }
  float operator[](int64_t i) const { return data_[static_cast<size_t>(offset_ + i)]; }

 private:
  int64_t offset_;
  std::vector<float> data_;
};

inline double largest(Row& row) {
  double m = 0;
  for (int64_t i = 0; i < row.size(); ++i) m = std::max(m, std::abs(static_cast<double>(row[i])));
  return m;
}

inline uint32_t bits(float x) {
  uint32_t b;
  std::memcpy(&b, &x, sizeof(b));
  return b;
}

/// Bit equality, so that 0 and -0 differ and equal NaN agree.
inline ::testing::AssertionResult same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << a.size() << " values against " << b.size();
  for (size_t i = 0; i < a.size(); ++i) {
    if (bits(a[i]) != bits(b[i])) {
      return ::testing::AssertionFailure() << "value " << i << ": " << a[i] << " against " << b[i];
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace vitro::testing
