// Rotary frequencies against NumPy float64 (tests/data/model/rope.json, by tools/make_rope_expectations.py) and, where
// the shared goldens are, against the tables of the reference for every decoder whose family is known here.
#include "model/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "formats/json.h"
#include "formats/mapped_file.h"
#include "formats/safetensors.h"
#include "model/arch/architecture.h"
#include "testing/data_file.h"
#include "testing/shared_data.h"

namespace vitro {
namespace {

using testing::reals;
using testing::repo_path;
using testing::shared_path;

double real(const Value& object, std::string_view key, double missing) {
  const Value* value = object.find(key);
  return value ? testing::real_of(*value) : missing;
}

RopeScaling scaling_of(const std::string& kind) {
  if (kind == "linear") return RopeScaling::kLinear;
  if (kind == "ntk") return RopeScaling::kNtk;
  if (kind == "dynamic") return RopeScaling::kDynamic;
  if (kind == "yarn") return RopeScaling::kYarn;
  if (kind == "longrope") return RopeScaling::kLongRope;
  if (kind == "llama3") return RopeScaling::kLlama3;
  if (kind == "factors") return RopeScaling::kFactors;
  EXPECT_EQ(kind, "none");
  return RopeScaling::kNone;
}

RopeSpec spec_of(const Value& c) {
  RopeSpec spec;
  spec.scaling = scaling_of(*c.find("kind")->as_string());
  spec.d_rot = static_cast<int64_t>(real(c, "d_rot", 0));
  spec.theta = real(c, "theta", 0);
  spec.factor = real(c, "factor", 1);
  spec.n_ctx_original = static_cast<int64_t>(real(c, "n_ctx_original", 0));
  spec.low_freq_factor = real(c, "low_freq_factor", 1);
  spec.high_freq_factor = real(c, "high_freq_factor", 4);
  spec.beta_fast = real(c, "beta_fast", 32);
  spec.beta_slow = real(c, "beta_slow", 1);
  spec.mscale = real(c, "mscale", 0);
  spec.mscale_all_dim = real(c, "mscale_all_dim", 0);
  spec.attention_factor = real(c, "attention_factor", 0);
  spec.is_truncated = !c.find("is_truncated") || *c.find("is_truncated")->as_bool();
  spec.short_factors = reals(c, "short_factors");
  spec.long_factors = reals(c, "long_factors");
  return spec;
}

TEST(RopeTest, EveryKindIsWhatItsFormulaSays) {
  const Value cases = testing::json_file("tests/data/model/rope.json");
  ASSERT_GE(cases.as_array()->size(), 22u);
  for (const Value& c : *cases.as_array()) {
    SCOPED_TRACE(to_string(c));
    const auto seq_len = static_cast<int64_t>(real(c, "seq_len", 1));
    std::vector<float> factors;
    for (const double x : reals(c, "factors")) factors.push_back(static_cast<float>(x));
    const std::vector<double> found = rope_frequencies(spec_of(c), seq_len, {.all = factors});
    const std::vector<double> expected = reals(c, "expected_frequencies");
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-13 * expected[i]) << i;
    EXPECT_NEAR(rope_attention_factor(spec_of(c)), real(c, "expected_attention_factor", 0), 1e-15);
  }
}

// The raised bases themselves, worked out by hand: 10,000 s^(128/126).
TEST(RopeTest, NtkRaisesTheBase) {
  for (const auto& [factor, base] : {std::pair{2.0, 20221.0}, {4.0, 40890.0}, {32.0, 338097.0}}) {
    const RopeSpec spec{.d_rot = 128, .theta = 10000.0, .scaling = RopeScaling::kNtk, .factor = factor};
    const std::vector<double> frequencies = rope_frequencies(spec, 1);
    EXPECT_EQ(frequencies[0], 1.0);
    EXPECT_NEAR(std::pow(frequencies[1], -64.0), base, 0.5);
    // The slowest pair turns as if positions had been divided by the factor.
    EXPECT_NEAR(frequencies[63], std::pow(10000.0, -126.0 / 128.0) / factor, 1e-15);
  }
}

TEST(RopeTest, LongRopeWithoutListsTakesTheFactorsOfTheFile) {
  RopeSpec spec{.d_rot = 4, .scaling = RopeScaling::kLongRope, .factor = 4, .n_ctx_original = 32};
  const std::vector<float> short_context = {1.0F, 2.0F}, long_context = {1.0F, 5.0F};
  const RopeFactors factors{.short_context = short_context, .long_context = long_context};
  EXPECT_DOUBLE_EQ(rope_frequencies(spec, 32, factors)[1], 0.01 / 2.0);
  EXPECT_DOUBLE_EQ(rope_frequencies(spec, 33, factors)[1], 0.01 / 5.0);
}

/// cos or sin tables of one golden: values of tensor `name`.
std::vector<float> table(const MappedFile& file, const SafetensorsFile& index, const std::string& name) {
  for (const WeightEntry& entry : index.tensors) {
    if (entry.name != name) continue;
    std::vector<float> values(static_cast<size_t>(entry.shape.n_elements()));
    std::memcpy(values.data(), file.bytes().data() + entry.begin, values.size() * sizeof(float));
    return values;
  }
  return {};
}

struct Table {
  std::string prefix;  ///< "", "full_attention." or "sliding_attention."
  RopeSpec rope;
};

/// One table, or one for each layer type where layers rotate differently.
std::vector<Table> tables_of(const ModelConfig& config) {
  const RopeSpec& first = config.blocks.front().attn.rope;
  for (const BlockSpec& block : config.blocks) {
    if (block.attn.rope == first) continue;
    const bool is_first_window = config.blocks.front().attn.mask == MaskKind::kWindow;
    const std::string names[] = {"full_attention.", "sliding_attention."};
    return {{names[is_first_window ? 1 : 0], first}, {names[is_first_window ? 0 : 1], block.attn.rope}};
  }
  return {{"", first}};
}

/// The places of pair i in a row of the reference: two halves with the same angles, each angle twice in place, or
/// each angle once (complex factors, as DeepSeek-V2 has them, and gpt-oss).
std::vector<size_t> places_of(size_t i, size_t n_pairs, const std::vector<float>& cos, const std::vector<float>& sin) {
  if (cos.size() == n_pairs) return {i};
  const bool is_in_place = cos[0] == cos[1] && sin[0] == sin[1];
  return is_in_place ? std::vector<size_t>{2 * i, 2 * i + 1} : std::vector<size_t>{i, i + n_pairs};
}

/// The reference forms angles in float32, whose rounding grows with the angle: 2^-22 of it; twice that where
/// frequencies are blends (YaRN), which already lie up to 5 x 2^-24 from the exact ones.
void expect_row(const RopeSpec& rope, int64_t pos, const std::vector<float>& cos, const std::vector<float>& sin) {
  const std::vector<double> frequencies = rope_frequencies(rope, pos + 1, {});
  const double factor = rope_attention_factor(rope);
  const int exponent = rope.scaling == RopeScaling::kYarn ? -21 : -22;
  const auto n_pairs = static_cast<size_t>(rope.d_rot / 2);
  ASSERT_EQ(frequencies.size(), n_pairs);
  ASSERT_TRUE(cos.size() == n_pairs || cos.size() == 2 * n_pairs)
      << cos.size() << " cosines of " << n_pairs << " pairs";
  ASSERT_EQ(sin.size(), cos.size());
  for (size_t i = 0; i < n_pairs; ++i) {
    const double angle = static_cast<double>(pos) * frequencies[i];
    const double tolerance = 1e-6 + std::ldexp(angle, exponent);
    for (const size_t at : places_of(i, n_pairs, cos, sin)) {
      EXPECT_NEAR(cos[at], factor * std::cos(angle), tolerance) << "pos " << pos << " pair " << i;
      EXPECT_NEAR(sin[at], factor * std::sin(angle), tolerance) << "pos " << pos << " pair " << i;
    }
  }
}

int check_golden(const std::filesystem::path& folder) {
  const auto checkpoint = Checkpoint::open(folder);
  if (!checkpoint || !find_architecture(checkpoint->format(), checkpoint->config())) return 0;
  const auto description = describe_model(*checkpoint);
  EXPECT_TRUE(description) << description.error().message;
  // Some families have rotary tables in their code that no layer uses.
  if (rope_kinds(description->config).empty()) return 0;
  const auto file = MappedFile::open(folder / "rope.safetensors");
  const auto index = read_safetensors(file->bytes(), "rope.safetensors");
  EXPECT_TRUE(index) << index.error().message;
  int n_rows = 0;
  for (const Table& kind : tables_of(description->config)) {
    for (const int64_t pos : {0, 1, 2, 17, 31, 32, 127, 4096, 14000, 100000}) {
      const std::string suffix = fmt::format("{}", pos);
      expect_row(kind.rope, pos, table(*file, *index, kind.prefix + "cos." + suffix),
                 table(*file, *index, kind.prefix + "sin." + suffix));
      ++n_rows;
    }
  }
  return n_rows;
}

int check_goldens(const std::filesystem::path& models) {
  int n_rows = 0;
  for (const auto& entry : std::filesystem::directory_iterator(models)) {
    if (!std::filesystem::exists(entry.path() / "rope.safetensors")) continue;
    SCOPED_TRACE(entry.path().filename().string());
    n_rows += check_golden(entry.path());
  }
  return n_rows;
}

// Eleven checkpoints, ten positions each, gemma3 with two tables.
TEST(RopeTest, AgreesWithTheReferenceTables) { EXPECT_GE(check_goldens(repo_path("tests/golden")), 110); }

TEST(RopeTest, AgreesWithTheSharedReferenceTables) {
  const auto models = shared_path("goldens/models");
  if (!models) GTEST_SKIP() << "the shared goldens are not there";
  EXPECT_GE(check_goldens(*models), 150);
}

}  // namespace
}  // namespace vitro
