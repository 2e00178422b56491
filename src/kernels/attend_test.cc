// Attention: every table against the twin for every cache type, and the promises of AttendArgs bit for bit: a type
// gives what float32 gives on its rounded values, and neither page size, nor the other rows, nor their number, nor what
// lies in unused slots of pages changes a row.
#include <algorithm>
#include <memory>
#include <numeric>

#include "kernels/kernels_test_util.h"
#include "kernels/reference/reference.h"

namespace vitro::testing {
namespace {

/// A row's score is off by eps * sqrt(d_head) of its terms, its sum of n values by eps * sqrt(n): kAttendSlack covers
/// both.
constexpr double kAttendSlack = 6;

constexpr int64_t kHeadWidths[] = {1, 2, 7, 8, 16, 24, 32, 64, 80, 96, 128, 256};

/// The types that heads of this width can have.
std::vector<CacheType> types_for(int64_t d_head) {
  std::vector<CacheType> types;
  for (int i = 0; i < kNCacheTypes; ++i) {
    const auto type = static_cast<CacheType>(i);
    const int64_t block = cache_scale_block(type, d_head);
    if (block == 0 || d_head % block == 0) types.push_back(type);
  }
  return types;
}

std::string name_of(CacheType type) { return std::string(cache_type_info(type).name); }

/// Keys and values of positions 0..n-1 in pages of a chosen size, in shuffled order; every slot that holds no position
/// is NaN, scales too, and there is no page id beyond the last position.
class PagedKv {
 public:
  PagedKv(CacheType type, int64_t n_keys, int64_t d_head, int64_t page_size, double magnitude = 1)
      : PagedKv(type, d_head, page_size, random_values(n_keys * d_head, 21, magnitude),
                random_values(n_keys * d_head, 22)) {}

  PagedKv(CacheType type, int64_t d_head, int64_t page_size, const std::vector<float>& keys,
          const std::vector<float>& values)
      : type_(type), page_size_(page_size), d_head_(d_head), n_keys_(static_cast<int64_t>(keys.size()) / d_head) {
    const int64_t n_pages = (n_keys_ + page_size - 1) / page_size;
    data_.assign(static_cast<size_t>((2 * n_pages + 1) * page_bytes()), kPoison);
    for (int64_t p = 0; p < n_pages; ++p) page_ids_.push_back(static_cast<int32_t>(2 * n_pages - 2 * p));
    for (int64_t pos = 0; pos < n_keys_; ++pos) {
      write(pos, is_key, &keys[static_cast<size_t>(pos * d_head)]);
      write(pos, is_value, &values[static_cast<size_t>(pos * d_head)]);
    }
  }
  /// Overwrites position pos, which no row of the test attends.
  void poison(int64_t pos) {
    for (const Kind kind : {is_key, is_value}) {
      for (int64_t i = 0; i < d_head_; ++i) std::fill_n(elements(pos, kind)[i], element_bytes(), kPoison);
      for (int64_t b = 0; b < n_scales(); ++b) std::fill_n(scales(pos, kind)[b], 2, kPoison);
    }
  }
  /// The same numbers as float32: what the stored elements stand for.
  PagedKv rounded() {
    std::vector<float> numbers[2];
    for (const Kind kind : {is_key, is_value}) {
      for (int64_t pos = 0; pos < n_keys_; ++pos) {
        const Strip from = elements(pos, kind), its_scales = scales(pos, kind);
        const int64_t block = n_scales() == 0 ? d_head_ : d_head_ / n_scales();
        for (int64_t i = 0; i < d_head_; ++i) {
          numbers[kind].push_back(reference::stored_value(type_, from[i], its_scales[i / block]));
        }
      }
    }
    return PagedKv(CacheType::kF32, d_head_, page_size_, numbers[is_key], numbers[is_value]);
  }
  KvHead head() const {
    const std::byte* base = data_.data();
    KvHead kv{.k_base = base + kLead,
              .v_base = base + kLead + half_bytes(),
              .page_ids = page_ids_.data(),
              .page_stride = page_bytes(),
              .page_size = page_size_,
              .d_head = d_head_,
              .scale_block = cache_scale_block(type_, d_head_)};
    if (n_scales() > 0) {
      kv.k_scales = base + kLead + 2 * half_bytes();
      kv.v_scales = kv.k_scales + page_size_ * n_scales() * 2;
    }
    return kv;
  }
  CacheType type() const { return type_; }
  int64_t d_head() const { return d_head_; }

 private:
  enum Kind { is_key, is_value };
  static constexpr std::byte kPoison{0xFF};  ///< NaN in every float type
  static constexpr int64_t kLead = 4;        ///< bytes of other data in front of the pages' elements

  int64_t element_bytes() const { return cache_type_info(type_).element_bytes; }
  int64_t n_scales() const { return cache_n_scales(type_, d_head_); }
  int64_t half_bytes() const { return page_size_ * d_head_ * element_bytes(); }
  int64_t page_bytes() const { return kLead + 2 * page_size_ * cache_row_bytes(type_, d_head_); }
  std::byte* page(int64_t pos) {
    return &data_[static_cast<size_t>(page_ids_[static_cast<size_t>(pos / page_size_)] * page_bytes() + kLead)];
  }
  /// Where the elements (or scales) of one position are: `stride` bytes apart.
  struct Strip {
    std::byte* first;
    int64_t stride;
    std::byte* operator[](int64_t i) const { return first + i * stride; }
  };
  /// n of `n_bytes` a position: side by side for a value, a page's columns apart for a key.
  Strip strip(std::byte* start, int64_t pos, Kind kind, int64_t n, int64_t n_bytes) const {
    const int64_t column = pos % page_size_;
    if (kind == is_key) return {start + column * n_bytes, page_size_ * n_bytes};
    return {start + (page_size_ + column) * n * n_bytes, n_bytes};
  }
  Strip elements(int64_t pos, Kind kind) { return strip(page(pos), pos, kind, d_head_, element_bytes()); }
  Strip scales(int64_t pos, Kind kind) { return strip(page(pos) + 2 * half_bytes(), pos, kind, n_scales(), 2); }

  void write(int64_t pos, Kind kind, const float* x) {
    std::vector<std::byte> encoded(static_cast<size_t>(cache_row_bytes(type_, d_head_)));
    std::byte* encoded_scales = encoded.data() + d_head_ * element_bytes();
    reference::encode(type_, {x, d_head_, cache_scale_block(type_, d_head_), encoded.data(), encoded_scales});
    const Strip to = elements(pos, kind), scales_to = scales(pos, kind);
    for (int64_t i = 0; i < d_head_; ++i) {
      std::copy_n(encoded.data() + i * element_bytes(), element_bytes(), to[i]);
    }
    for (int64_t b = 0; b < n_scales(); ++b) std::copy_n(encoded_scales + b * 2, 2, scales_to[b]);
  }

  CacheType type_;
  int64_t page_size_;
  int64_t d_head_;
  int64_t n_keys_;
  std::vector<std::byte> data_;
  std::vector<int32_t> page_ids_;
};

struct Range {
  int64_t first;
  int64_t last;
};

/// What is done to scores.
struct Shaping {
  float softcap = 0;
  bool has_bias = false;
};
/// None; a cap that most scores are far beyond; one far above them; ALiBi-like numbers alone and with a cap.
constexpr Shaping kShapings[] = {{}, {0.5F, false}, {50, false}, {0, true}, {2, true}};

/// The bias of row number `row`: readable for exactly the tiles of its keys, NaN where no key of the row is.
Row bias_of(Range range, size_t row) {
  const int64_t n = std::max<int64_t>(range.last / kAttendTile + 1, 1) * kAttendTile;
  std::vector<float> bias = random_values(n, 500 + row, 3);
  for (int64_t p = 0; p < n; ++p) {
    if (p < range.first || p > range.last) bias[static_cast<size_t>(p)] = kNaN;
  }
  return {bias, static_cast<int64_t>(row % 5)};
}

/// z and lse of every row, in one vector a row.
using Rows = std::vector<std::vector<float>>;

/// Exactly the promised scratch, from an aligned address, full of NaN.
class Scratch {
 public:
  explicit Scratch(int64_t d_head) : floats_(static_cast<size_t>(attend_scratch_floats(d_head)) + 16, kNaN) {
    void* aligned = floats_.data();
    size_t space = floats_.size() * sizeof(float);
    const size_t n_bytes = static_cast<size_t>(attend_scratch_floats(d_head)) * sizeof(float);
    data_ = static_cast<float*>(std::align(64, n_bytes, aligned, space));
  }
  float* data() { return data_; }

 private:
  std::vector<float> floats_;
  float* data_;
};

/// Runs the rows (numbered `which` of `ranges`; a row's q and bias depend on its number alone) in one call.
Rows run(const KernelTable& table, const PagedKv& kv, const std::vector<Range>& ranges,
         const std::vector<size_t>& which, Shaping shaping = {}) {
  const auto d_head = static_cast<size_t>(kv.d_head());
  std::vector<std::vector<float>> q;
  std::vector<Row> biases;
  Rows out(which.size(), std::vector<float>(d_head + 1, kNaN));
  std::vector<AttendRow> rows(which.size());
  for (const size_t row : which) {
    q.push_back(random_values(kv.d_head(), 100 + row, 2));
    biases.push_back(bias_of(ranges[row], row));
  }
  for (size_t i = 0; i < which.size(); ++i) {
    const Range range = ranges[which[i]];
    rows[i] = {q[i].data(), out[i].data(), &out[i][d_head], range.first, range.last};
    if (shaping.has_bias) rows[i].bias = biases[i].data();
  }
  Scratch scratch(kv.d_head());
  table.attend[static_cast<int>(kv.type())]({kv.head(), rows.data(), static_cast<int64_t>(rows.size()),
                                             1 / std::sqrt(static_cast<float>(d_head)), shaping.softcap,
                                             scratch.data()});
  return out;
}

std::vector<size_t> all_of(const std::vector<Range>& ranges) {
  std::vector<size_t> which(ranges.size());
  std::iota(which.begin(), which.end(), size_t{0});
  return which;
}

/// Causal, windowed, empty, single, across tiles and across the spans' bounds at 512 and 1024.
const std::vector<Range>& ranges() {
  static const std::vector<Range> kRanges = {{0, 0},     {0, 1},    {0, 6},       {0, 63},     {0, 64},   {5, 4},
                                             {0, 511},   {0, 512},  {511, 512},   {100, 900},  {0, 1100}, {1023, 1024},
                                             {600, 610}, {64, 127}, {1037, 1100}, {1100, 1100}};
  return kRanges;
}
constexpr int64_t kKeys = 1101;

::testing::AssertionResult same_rows(const Rows& a, const Rows& b) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << a.size() << " rows against " << b.size();
  for (size_t r = 0; r < a.size(); ++r) {
    if (::testing::AssertionResult result = same_bits(a[r], b[r]); !result) return result << ", row " << r;
  }
  return ::testing::AssertionSuccess();
}

/// Within the tolerance of a row's number of keys and head width.
void expect_near(const Rows& out, const Rows& expected, const std::string& what) {
  for (size_t r = 0; r < out.size(); ++r) {
    const size_t d_head = out[r].size() - 1;
    const double n_keys = static_cast<double>(std::max<int64_t>(ranges()[r].last - ranges()[r].first + 1, 0));
    const double tolerance = kAttendSlack * kEps * (std::sqrt(d_head) + std::sqrt(n_keys));
    for (size_t i = 0; i < d_head; ++i) {
      ASSERT_NEAR(out[r][i], expected[r][i], tolerance) << what << " row " << r << " i " << i;
    }
    const double lse = expected[r].back();
    if (n_keys == 0) {
      ASSERT_EQ(out[r].back(), -INFINITY);
    } else {
      ASSERT_NEAR(out[r].back(), lse, tolerance + 2 * kEps * std::abs(lse)) << what << " row " << r;
    }
  }
}

TEST(Attend, MatchesTheTwin) {
  for (const int64_t d_head : kHeadWidths) {
    for (const CacheType type : types_for(d_head)) {
      const PagedKv kv(type, kKeys, d_head, 16);
      const Rows expected = run(kReferenceTable, kv, ranges(), all_of(ranges()));
      for (const KernelTable* table : fast_tables()) {
        expect_near(run(*table, kv, ranges(), all_of(ranges())), expected,
                    table->name + (" " + name_of(type)) + " d_head " + std::to_string(d_head));
      }
    }
  }
}

TEST(Attend, ShapedScoresMatchTheTwin) {
  for (const CacheType type : {CacheType::kF32, CacheType::kQ8_0}) {
    for (const Shaping shaping : kShapings) {
      const PagedKv kv(type, kKeys, 32, 8);
      const Rows expected = run(kReferenceTable, kv, ranges(), all_of(ranges()), shaping);
      for (const KernelTable* table : fast_tables()) {
        expect_near(run(*table, kv, ranges(), all_of(ranges()), shaping), expected,
                    table->name + (" " + name_of(type)) + " cap " + std::to_string(shaping.softcap));
      }
    }
  }
}

/// The key promise of the cache types: the bits of float32 on the numbers that the elements stand for.
TEST(Attend, TypesGiveTheBitsOfTheirRoundedValues) {
  for (const int64_t d_head : kHeadWidths) {
    for (const CacheType type : types_for(d_head)) {
      for (const int64_t page_size : {8, 16, 64}) {
        PagedKv kv(type, kKeys, d_head, page_size);
        const PagedKv rounded = kv.rounded();
        for (const KernelTable* table : d_head == 32 && page_size == 16 ? usable_tables() : fast_tables()) {
          for (const Shaping shaping : {Shaping{}, Shaping{2, true}}) {
            ASSERT_TRUE(same_rows(run(*table, kv, ranges(), all_of(ranges()), shaping),
                                  run(*table, rounded, ranges(), all_of(ranges()), shaping)))
                << table->name << " " << name_of(type) << " d_head " << d_head << " page " << page_size;
          }
        }
      }
    }
  }
}

TEST(Attend, LargeScoresDoNotOverflow) {
  for (const CacheType type : types_for(64)) {
    for (const KernelTable* table : usable_tables()) {
      const PagedKv kv(type, 300, 64, 16, 1e4);
      const Rows out = run(*table, kv, {{0, 299}}, {0}), expected = run(kReferenceTable, kv, {{0, 299}}, {0});
      // One key wins by far (scores are tens of thousands), so z is its value.
      for (size_t i = 0; i < 64; ++i) ASSERT_NEAR(out[0][i], expected[0][i], kAttendSlack * kEps) << table->name;
      ASSERT_NEAR(out[0][64], expected[0][64], kAttendSlack * kEps * 8 * std::abs(expected[0][64])) << table->name;
    }
  }
}

TEST(Attend, PageSizeChangesNoBit) {
  for (const int64_t d_head : {8, 24, 64, 80, 128}) {
    for (const CacheType type : types_for(d_head)) {
      const PagedKv small_pages(type, kKeys, d_head, 8);
      for (const int64_t page_size : {16, 24, 64, 1104}) {
        const PagedKv kv(type, kKeys, d_head, page_size);
        for (const KernelTable* table : fast_tables()) {
          ASSERT_TRUE(same_rows(run(*table, kv, ranges(), all_of(ranges())),
                                run(*table, small_pages, ranges(), all_of(ranges()))))
              << table->name << " " << name_of(type) << " d_head " << d_head << " page " << page_size;
        }
      }
    }
  }
}

TEST(Attend, OtherRowsOfTheCallChangeNoBit) {
  for (const KernelTable* table : fast_tables()) {
    for (const int64_t d_head : {24, 64, 80}) {
      for (const CacheType type : types_for(d_head)) {
        const PagedKv kv(type, kKeys, d_head, 16);
        const Shaping shaping = d_head == 80 ? Shaping{2, true} : Shaping{};
        const Rows together = run(*table, kv, ranges(), all_of(ranges()), shaping);
        for (size_t r = 0; r < ranges().size(); ++r) {
          ASSERT_TRUE(same_bits(run(*table, kv, ranges(), {r}, shaping)[0], together[r]))
              << table->name << " " << name_of(type) << " row " << r;
        }
        for (const std::vector<size_t>& which :
             {std::vector<size_t>{15, 3}, {7, 7, 7}, {10, 9, 8, 2, 5}, {1, 11, 6, 12, 4, 14, 0}}) {
          const Rows some = run(*table, kv, ranges(), which, shaping);
          for (size_t i = 0; i < which.size(); ++i) {
            ASSERT_TRUE(same_bits(some[i], together[which[i]]))
                << table->name << " " << name_of(type) << " row " << which[i] << " of " << which.size();
          }
        }
      }
    }
  }
}

/// A chunk of a prompt: sixteen rows at consecutive positions, against each alone with nothing behind it in the cache.
TEST(Attend, CausalChunkEqualsOneByOne) {
  std::vector<Range> chunk;
  for (int64_t i = 0; i < kAttendRows; ++i) chunk.push_back({0, 505 + i});
  for (const KernelTable* table : usable_tables()) {
    for (const CacheType type : types_for(64)) {
      const PagedKv all(type, 600, 64, 16);
      const Rows together = run(*table, all, chunk, all_of(chunk));
      for (size_t r = 0; r < chunk.size(); ++r) {
        PagedKv poisoned = all;
        for (int64_t pos = chunk[r].last + 1; pos < 600; ++pos) poisoned.poison(pos);
        ASSERT_TRUE(same_bits(run(*table, poisoned, chunk, {r})[0], together[r]))
            << table->name << " " << name_of(type) << " row " << r;
      }
    }
  }
}

/// Positions outside a row's keys may hold anything, NaN too, both before a window and after the last key, and even if
/// another row of the call attends them.
TEST(Attend, NeverUsesAKeyOutsideARow) {
  const std::vector<Range> windows = {{70, 90}, {3, 200}, {130, 131}, {64, 71}};
  for (const KernelTable* table : usable_tables()) {
    for (const CacheType type : types_for(64)) {
      for (const int64_t page_size : {8, 64}) {
        const PagedKv clean(type, 256, 64, page_size);
        for (size_t r = 0; r < windows.size(); ++r) {
          PagedKv poisoned = clean;
          for (int64_t pos = 0; pos < 256; ++pos) {
            if (pos < windows[r].first || pos > windows[r].last) poisoned.poison(pos);
          }
          const Rows expected = run(*table, clean, windows, {r}, {2, true});
          ASSERT_TRUE(same_bits(run(*table, poisoned, windows, {r}, {2, true})[0], expected[0]))
              << table->name << " " << name_of(type) << " row " << r;
          const Rows mixed = run(*table, poisoned, windows, all_of(windows), {2, true});
          ASSERT_TRUE(same_bits(mixed[r], expected[0]))
              << table->name << " " << name_of(type) << " row " << r << " among others";
        }
      }
    }
  }
}

/// A cap that no score comes near, and a bias of zeros, are next to none; no cap and no bias are none.
TEST(Attend, ABiasOfZerosChangesNoBit) {
  for (const KernelTable* table : usable_tables()) {
    const PagedKv kv(CacheType::kF32, 200, 64, 16);
    const std::vector<float> q = random_values(64, 7, 2), zeros(256);
    Rows out(2, std::vector<float>(65));
    for (size_t i = 0; i < 2; ++i) {
      const AttendRow row{q.data(), out[i].data(), &out[i][64], 3, 199, i == 0 ? nullptr : zeros.data()};
      Scratch scratch(64);
      table->attend[0]({.kv = kv.head(), .rows = &row, .n_rows = 1, .scale = 0.125F, .scratch = scratch.data()});
    }
    EXPECT_TRUE(same_bits(out[0], out[1])) << table->name;
  }
}

/// One key makes lse its score, so that the relative error of the capped score shows: c tanh(x / c) far below the cap,
/// near it and far beyond.
TEST(Attend, SoftCapIsAccurateForSmallScoresToo) {
  constexpr double kCapSlack = 4;  // tanh is within 3 units in the last place; a division and a product besides
  const float key[8] = {1}, value[8] = {1};
  std::byte page[sizeof(key) + sizeof(value)];
  std::memcpy(page, key, sizeof(key));
  std::memcpy(page + sizeof(key), value, sizeof(value));
  const int32_t page_ids[1] = {0};
  const KvHead kv{.k_base = page, .v_base = page + sizeof(key), .page_ids = page_ids, .page_size = 8, .d_head = 1};
  for (const KernelTable* table : usable_tables()) {
    for (const float cap : {0.7F, 30.0F, 50.0F}) {
      for (float x = 1e-30F; x < 1e6F; x *= 1.013F) {
        float z, lse;
        const AttendRow row{.q = &x, .z = &z, .lse = &lse, .first_pos = 0, .last_pos = 0};
        Scratch scratch(1);
        table->attend[0]({.kv = kv, .rows = &row, .n_rows = 1, .scale = 1, .softcap = cap, .scratch = scratch.data()});
        const double exact = cap * std::tanh(static_cast<double>(x) / cap);
        ASSERT_NEAR(lse, exact, kCapSlack * kEps * exact) << table->name << " cap " << cap << " x " << x;
        ASSERT_LE(lse, cap) << table->name;
      }
    }
  }
}

TEST(Attend, ProbabilitiesAreThoseOfTheScores) {
  for (const KernelTable* table : fast_tables()) {
    for (const CacheType type : types_for(64)) {
      for (const int64_t page_size : {8, 16}) {
        const PagedKv kv(type, kKeys, 64, page_size);
        const std::vector<float> q = random_values(64, 7, 2);
        for (const Range range : {Range{0, 0}, Range{0, 1100}, Range{37, 700}, Range{500, 520}, Range{1099, 1100}}) {
          for (const Shaping shaping : {Shaping{}, Shaping{2, true}}) {
            std::vector<float> z(64), probs(static_cast<size_t>(range.last - range.first + 1)), expected = probs;
            float lse = kNaN;
            Row bias = bias_of(range, 3);
            const AttendRow row{q.data(),    z.data(),   &lse,
                                range.first, range.last, shaping.has_bias ? bias.data() : nullptr};
            Scratch scratch(64);
            const auto t = static_cast<int>(type);
            table->attend[t]({kv.head(), &row, 1, 0.125F, shaping.softcap, scratch.data()});
            table->attend_probs[t]({kv.head(), row, 0.125F, shaping.softcap, probs.data()});
            kReferenceTable.attend_probs[t]({kv.head(), row, 0.125F, shaping.softcap, expected.data()});
            double sum = 0;
            for (size_t i = 0; i < probs.size(); ++i) {
              ASSERT_NEAR(probs[i], expected[i], kAttendSlack * kEps * 8 * expected[i])
                  << table->name << " " << name_of(type) << " key " << i;
              sum += probs[i];
            }
            EXPECT_NEAR(sum, 1, kAttendSlack * kEps * std::sqrt(static_cast<double>(probs.size()))) << table->name;
          }
        }
      }
    }
  }
}

/// One key makes its probability e^(score - lse) exactly one: attend_probs computes the very score that attend did.
TEST(Attend, ProbsRecomputeTheSameScoreBits) {
  for (const KernelTable* table : fast_tables()) {  // the twin's lse is rounded from a double score
    for (const CacheType type : types_for(96)) {
      const PagedKv kv(type, 100, 96, 8);
      for (int64_t pos = 0; pos < 100; ++pos) {
        const std::vector<float> q = random_values(96, 300 + pos, 2);
        std::vector<float> z(96);
        Scratch scratch(96);
        Row bias = bias_of({pos, pos}, 1);
        float lse = kNaN, prob = kNaN;
        const AttendRow row{q.data(), z.data(), &lse, pos, pos, bias.data()};
        const auto t = static_cast<int>(type);
        table->attend[t]({kv.head(), &row, 1, 0.3F, 1.5F, scratch.data()});
        table->attend_probs[t]({kv.head(), row, 0.3F, 1.5F, &prob});
        ASSERT_EQ(prob, 1.0F) << table->name << " " << name_of(type) << " pos " << pos;
      }
    }
  }
}

/// Equal operations in equal order: the two tables with fused multiply-add agree bit for bit.
TEST(Attend, FusedTablesAgree) {
  const KernelTable* avx512 = find_kernel_table("avx512");
  const KernelTable* avx2 = find_kernel_table("avx2");
  if (avx512 == nullptr || avx2 == nullptr) GTEST_SKIP() << "needs a processor with AVX-512";
  for (const CacheType type : types_for(96)) {
    const PagedKv kv(type, kKeys, 96, 24);
    for (const Shaping shaping : kShapings) {
      EXPECT_TRUE(same_rows(run(*avx512, kv, ranges(), all_of(ranges()), shaping),
                            run(*avx2, kv, ranges(), all_of(ranges()), shaping)))
          << name_of(type);
    }
  }
}

}  // namespace
}  // namespace vitro::testing
