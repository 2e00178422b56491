// Matmul of every kernel table: within the derived bound of the exact sum, and bit for bit equal to itself however the
// work is cut: quantised weights against their float32 copy, tokens together against one by one, panel ranges against
// the whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/matmul_tables.h"
#include "tensor/buffer.h"
#include "tensor/panel.h"
#include "tensor/quant_block.h"
#include "testing/random_blocks.h"

namespace vitro {
namespace {

std::vector<const KernelTable*> tables() {
  std::vector<const KernelTable*> found;
  for (const char* name : {"v2", "avx2", "avx512"}) {
    if (const KernelTable* table = find_kernel_table(name)) found.push_back(table);
  }
  return found;
}
MatmulFn matmul_of(const KernelTable& table, DType dtype) { return table.matmul[static_cast<size_t>(dtype)]; }
const KernelTable& reference() { return *find_kernel_table("reference"); }

/// Column counts that the type allows.
std::vector<int64_t> column_counts(DType dtype) {
  std::vector<int64_t> counts;
  for (const int64_t n : {1, 31, 32, 33, 64, 96, 100, 256, 288, 512, 1280}) {
    if (n % dtype_info(dtype).block_elements == 0) counts.push_back(n);
  }
  return counts;
}

std::vector<float> random_floats(int64_t n, uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> out(static_cast<size_t>(n));
  for (float& value : out) value = normal(engine);
  return out;
}

uint16_t random_half(std::mt19937& engine) {
  constexpr uint16_t kSpecial[] = {0x0000, 0x8000, 0x0001, 0x83FF};
  const auto bits = static_cast<uint32_t>(engine());
  if (bits % 16 == 0) return kSpecial[bits / 16 % 4];
  return static_cast<uint16_t>((bits & 0x83FFU) | ((8 + bits / 65536 % 6) << 10));  // 2^-7 .. 2^-1, both signs
}

std::vector<std::byte> random_row(DType dtype, int64_t n_cols, std::mt19937& engine) {
  const DTypeInfo& info = dtype_info(dtype);
  std::vector<std::byte> row(row_bytes(dtype, static_cast<uint64_t>(n_cols)).value());
  for (size_t block = 0; block < row.size(); block += static_cast<size_t>(info.block_bytes)) {
    if (dtype == DType::kF32) {
      const float value = std::normal_distribution<float>()(engine);
      std::memcpy(row.data() + block, &value, 4);
      continue;
    }
    testing::fill_block(
        dtype, row.data() + block, [&] { return engine() & 0xFFU; }, [&] { return random_half(engine); },
        [&] { return engine() % 16 == 0 ? engine() % 4 : 118 + engine() % 8; });
  }
  return row;
}

/// A matrix in panels, with the same weights as float32.
class Matrix {
 public:
  Matrix(DType dtype, int64_t n_rows, int64_t n_cols, uint32_t seed = 1)
      : Matrix(dtype, n_cols, random_rows(dtype, n_rows, n_cols, seed)) {}
  Matrix(DType dtype, int64_t n_cols, const std::vector<std::vector<std::byte>>& rows)
      : dtype_(dtype), n_rows_(static_cast<int64_t>(rows.size())), n_cols_(n_cols) {
    values_.resize(static_cast<size_t>(n_rows_ * n_cols));
    for (int64_t r = 0; r < n_rows_; ++r) {
      dequantize_row(dtype, rows[static_cast<size_t>(r)].data(), n_cols, values_.data() + r * n_cols);
    }
    pack(rows);
  }
  /// The float32 copy of another matrix.
  explicit Matrix(const Matrix& other, DType)
      : dtype_(DType::kF32), n_rows_(other.n_rows_), n_cols_(other.n_cols_), values_(other.values_) {
    std::vector<std::vector<std::byte>> rows;
    for (int64_t r = 0; r < n_rows_; ++r) {
      const auto* begin = reinterpret_cast<const std::byte*>(values_.data() + r * n_cols_);
      rows.emplace_back(begin, begin + static_cast<size_t>(n_cols_) * sizeof(float));
    }
    pack(rows);
  }

  DType dtype() const { return dtype_; }
  int64_t n_rows() const { return n_rows_; }
  int64_t n_cols() const { return n_cols_; }
  const std::byte* panel(int64_t idx) const { return panels_.data() + idx * panel_bytes(dtype_, n_cols_); }
  float weight(int64_t r, int64_t k) const { return values_[static_cast<size_t>(r * n_cols_ + k)]; }

 private:
  static std::vector<std::vector<std::byte>> random_rows(DType dtype, int64_t n_rows, int64_t n_cols, uint32_t seed) {
    std::mt19937 engine(seed);
    std::vector<std::vector<std::byte>> rows;
    for (int64_t r = 0; r < n_rows; ++r) rows.push_back(random_row(dtype, n_cols, engine));
    return rows;
  }
  void pack(const std::vector<std::vector<std::byte>>& rows) {
    const int64_t n_panels = (n_rows_ + kPanelRows - 1) / kPanelRows, stride = panel_bytes(dtype_, n_cols_);
    panels_ = Buffer::allocate(static_cast<size_t>(n_panels * stride), "test panels").value();
    for (int64_t p = 0; p < n_panels; ++p) {
      std::array<const std::byte*, kRowsPerPanel> pointers = {};
      for (int64_t i = 0; i < kPanelRows && p * kPanelRows + i < n_rows_; ++i) {
        pointers[static_cast<size_t>(i)] = rows[static_cast<size_t>(p * kPanelRows + i)].data();
      }
      pack_panel(dtype_, pointers, n_cols_, panels_.data() + p * stride);
    }
  }

  DType dtype_;
  int64_t n_rows_, n_cols_;
  std::vector<float> values_;
  Buffer panels_;
};

/// Inputs of n_tokens rows with a gap between rows, starting at an odd float, and room for outputs with a guard after
/// each row.
constexpr float kGuard = -12345.0F;
struct Call {
  int64_t n_tokens, x_stride, y_stride;
  std::vector<float> x, y, bias;

  Call(const Matrix& w, int64_t n_tokens_in, bool has_bias, uint32_t seed = 7)
      : n_tokens(n_tokens_in),
        x_stride(w.n_cols() + 3),
        y_stride(w.n_rows() + 5),
        x(random_floats(n_tokens * x_stride + 1, seed)) {
    y.assign(static_cast<size_t>(n_tokens * y_stride), kGuard);
    if (has_bias) bias = random_floats(w.n_rows(), seed + 1);
  }
  MatmulArgs args(const Matrix& w) {
    return {.panels = w.panel(0),
            .n_rows = w.n_rows(),
            .n_cols = w.n_cols(),
            .x = x.data() + 1,
            .x_stride = x_stride,
            .n_tokens = n_tokens,
            .bias = bias.empty() ? nullptr : bias.data(),
            .y = y.data(),
            .y_stride = y_stride};
  }
  float x_at(int64_t t, int64_t k) const { return x[static_cast<size_t>(1 + t * x_stride + k)]; }
  float y_at(int64_t t, int64_t r) const { return y[static_cast<size_t>(t * y_stride + r)]; }
};

void expect_same_bits(const std::vector<float>& a, const std::vector<float>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(a[i]), std::bit_cast<uint32_t>(b[i]))
        << what << " at " << i << ": " << a[i] << " " << b[i];
  }
}

std::string describe(const KernelTable& table, const Matrix& w, int64_t n_tokens) {
  return std::string(table.name) + " " + std::string(dtype_info(w.dtype()).name) + " " + std::to_string(w.n_rows()) +
         "x" + std::to_string(w.n_cols()) + " tokens " + std::to_string(n_tokens);
}

/// One run of a table over a matrix.
std::vector<float> run(const KernelTable& table, const Matrix& w, Call call) {
  matmul_of(table, w.dtype())(call.args(w));
  return call.y;
}

/// Rounding errors of a float32 sum of k products, each at most eps of sum |w x|, add up like a random walk: c eps
/// sqrt(k) of it, c = 2; the reference rounds once more.
double bound(const Matrix& w, const Call& call, int64_t t, int64_t r) {
  double magnitude = call.bias.empty() ? 0.0 : std::fabs(static_cast<double>(call.bias[static_cast<size_t>(r)]));
  for (int64_t k = 0; k < w.n_cols(); ++k)
    magnitude += std::fabs(static_cast<double>(w.weight(r, k)) * static_cast<double>(call.x_at(t, k)));
  constexpr double kEps = 0x1p-24, kFactor = 2;
  return kFactor * kEps * std::sqrt(static_cast<double>(w.n_cols() + 1)) * magnitude;
}

/// Sums in double from the weights and inputs themselves.
double exact(const Matrix& w, const Call& call, int64_t t, int64_t r) {
  double sum = call.bias.empty() ? 0.0 : static_cast<double>(call.bias[static_cast<size_t>(r)]);
  for (int64_t k = 0; k < w.n_cols(); ++k)
    sum += static_cast<double>(w.weight(r, k)) * static_cast<double>(call.x_at(t, k));
  return sum;
}

void expect_near_exact(const KernelTable& table, const Matrix& w, int64_t n_tokens, bool has_bias) {
  Call call(w, n_tokens, has_bias);
  matmul_of(table, w.dtype())(call.args(w));
  for (int64_t t = 0; t < n_tokens; ++t) {
    for (int64_t r = 0; r < w.n_rows(); ++r) {
      ASSERT_LE(std::fabs(static_cast<double>(call.y_at(t, r)) - exact(w, call, t, r)), bound(w, call, t, r) + 1e-45)
          << describe(table, w, n_tokens) << " token " << t << " row " << r;
    }
    for (int64_t r = w.n_rows(); r < call.y_stride; ++r)
      ASSERT_EQ(call.y_at(t, r), kGuard) << describe(table, w, n_tokens);
  }
}

TEST(Matmul, EveryTableHasTheSameTypes) {
  for (const KernelTable* table : tables()) {
    for (int i = 0; i < kNMatmulTypes; ++i) EXPECT_EQ(table->matmul[i] != nullptr, reference().matmul[i] != nullptr);
  }
  for (const DType dtype : kPanelTypes) EXPECT_NE(matmul_of(reference(), dtype), nullptr);
}

TEST(Matmul, ReferenceIsTheExactSum) {
  for (const DType dtype : kPanelTypes) {
    for (const int64_t n_cols : column_counts(dtype)) {
      for (const int64_t n_rows : {1, 16, 33}) {
        for (const int64_t n_tokens : {0, 1, 3, 65})
          expect_near_exact(reference(), Matrix(dtype, n_rows, n_cols), n_tokens, true);
      }
    }
  }
}

TEST(Matmul, EveryTableIsNearTheExactSum) {
  for (const DType dtype : kPanelTypes) {
    for (const int64_t n_cols : column_counts(dtype)) {
      for (const int64_t n_rows : {1, 15, 16, 17, 33, 100}) {
        const Matrix w(dtype, n_rows, n_cols);
        for (const KernelTable* table : tables()) {
          for (const int64_t n_tokens : {0, 1, 2, 7}) expect_near_exact(*table, w, n_tokens, n_rows % 2 == 1);
        }
      }
    }
  }
}

TEST(Matmul, QuantisedWeightsGiveTheBitsOfTheirFloat32Copy) {
  for (const DType dtype : kPanelTypes) {
    for (const int64_t n_cols : column_counts(dtype)) {
      const Matrix w(dtype, 33, n_cols), copy(w, DType::kF32);
      for (const KernelTable* table : tables()) {
        for (const int64_t n_tokens : {1, 2, 5, 17}) {
          const Call call(w, n_tokens, true);
          expect_same_bits(run(*table, w, call), run(*table, copy, call), describe(*table, w, n_tokens));
        }
      }
    }
  }
}

/// MXFP4 blocks under every scale that kernels promise to take: 2^-128 .. 2^123.
TEST(Matmul, ScalesOfMxfp4OfEverySize) {
  std::vector<std::vector<std::byte>> rows;
  std::mt19937 engine(3);
  for (int exponent = 0; exponent <= 251; ++exponent) {
    rows.push_back(random_row(DType::kMXFP4, 32, engine));
    rows.back()[0] = static_cast<std::byte>(exponent);
  }
  const Matrix w(DType::kMXFP4, 32, rows), copy(w, DType::kF32);
  for (const KernelTable* table : tables()) {
    for (const int64_t n_tokens : {1, 2}) {
      Call call(w, n_tokens, false);
      for (float& x : call.x) x *= 0x1p-10F;  // sums stay finite
      const std::vector<float> y = run(*table, w, call);
      expect_same_bits(y, run(*table, copy, call), describe(*table, w, n_tokens));
      EXPECT_TRUE(std::all_of(y.begin(), y.end(), [](float value) { return std::isfinite(value); }));
    }
  }
}

/// The contract's order of sums, literally, for tables with a fused multiply-add.
float in_stated_order(const Matrix& w, const Call& call, int64_t t, int64_t r) {
  float total = 0;
  for (int64_t begin = 0; begin < w.n_cols(); begin += kSumBlock) {
    float sum = 0;
    for (int64_t k = begin; k < std::min(w.n_cols(), begin + kSumBlock); ++k)
      sum = std::fma(w.weight(r, k), call.x_at(t, k), sum);
    total += sum;
  }
  return total + call.bias[static_cast<size_t>(r)];
}

TEST(Matmul, SumsInTheStatedOrder) {
  for (const char* name : {"avx2", "avx512"}) {
    const KernelTable* table = find_kernel_table(name);
    if (table == nullptr) continue;
    for (const DType dtype : kPanelTypes) {
      const Matrix w(dtype, 17, column_counts(dtype).back());
      Call call(w, 3, true);
      matmul_of(*table, dtype)(call.args(w));
      for (int64_t t = 0; t < 3; ++t) {
        for (int64_t r = 0; r < 17; ++r) {
          ASSERT_EQ(std::bit_cast<uint32_t>(call.y_at(t, r)), std::bit_cast<uint32_t>(in_stated_order(w, call, t, r)))
              << describe(*table, w, 3);
        }
      }
    }
  }
}

/// Each token by itself, through the one-token kernel.
std::vector<float> run_token_by_token(const KernelTable& table, const Matrix& w, Call call) {
  for (int64_t t = 0; t < call.n_tokens; ++t) {
    MatmulArgs args = call.args(w);
    args.x += t * call.x_stride;
    args.y += t * call.y_stride;
    args.n_tokens = 1;
    matmul_of(table, w.dtype())(args);
  }
  return call.y;
}

TEST(Matmul, TokensTogetherEqualTokensOneByOne) {
  for (const DType dtype : kPanelTypes) {
    const Matrix w(dtype, 33, column_counts(dtype).back());
    for (const KernelTable* table : tables()) {
      for (int64_t n_tokens = 1; n_tokens <= 40; ++n_tokens) {
        const Call call(w, n_tokens, n_tokens % 2 == 0);
        expect_same_bits(run(*table, w, call), run_token_by_token(*table, w, call), describe(*table, w, n_tokens));
      }
    }
  }
}

TEST(Matmul, ManyTokensAndLongRowsEqualTokensOneByOne) {
  for (const DType dtype : kPanelTypes) {
    const Matrix w(dtype, 17, 2560);  // several chunks of columns, several groups of tokens
    for (const KernelTable* table : tables()) {
      for (const int64_t n_tokens : {13, 127, 128, 129, 300}) {
        const Call call(w, n_tokens, true);
        expect_same_bits(run(*table, w, call), run_token_by_token(*table, w, call), describe(*table, w, n_tokens));
      }
    }
  }
}

/// The panels cut into consecutive calls of `n` panels each.
std::vector<float> run_in_ranges(const KernelTable& table, const Matrix& w, Call call, int64_t n) {
  for (int64_t first = 0; first * kPanelRows < w.n_rows(); first += n) {
    MatmulArgs args = call.args(w);
    args.panels = w.panel(first);
    args.n_rows = std::min(n * kPanelRows, w.n_rows() - first * kPanelRows);
    args.bias = call.bias.data() + first * kPanelRows;
    args.y += first * kPanelRows;
    matmul_of(table, w.dtype())(args);
  }
  return call.y;
}

TEST(Matmul, RangesOfPanelsEqualTheWhole) {
  for (const DType dtype : kPanelTypes) {
    const Matrix w(dtype, 100, 512);
    for (const KernelTable* table : tables()) {
      for (const int64_t n_tokens : {1, 9}) {
        const Call call(w, n_tokens, true);
        const std::vector<float> whole = run(*table, w, call);
        for (const int64_t n : {1, 2, 3})
          expect_same_bits(run_in_ranges(*table, w, call, n), whole, describe(*table, w, n_tokens));
      }
    }
  }
}

}  // namespace
}  // namespace vitro
