// Checkpoints of every family and their GGUF twins against the reference, on every kernel table: logits, hidden states,
// attention, rotary tables, greedy text, token by token bit for bit. From tests/golden, and from the shared folder
// where it is present.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <set>

#include "inspect/expectation.h"
#include "inspect/verify_golden.h"
#include "testing/engine.h"
#include "testing/golden_twin.h"
#include "testing/goldens.h"
#include "testing/safetensors_writer.h"

namespace vitro::testing {
namespace {

struct GoldenCase {
  Golden golden;
  const KernelTable* table;
};

std::vector<GoldenCase> golden_cases() {
  std::vector<GoldenCase> out;
  for (const Golden& golden : kGoldens) {
    for (const KernelTable* table : all_tables()) out.push_back({golden, table});
  }
  return out;
}

/// Lengths of the lists in one list of lists of expected.json; a null counts 0.
std::vector<int64_t> lengths(const Expectation& expected, std::string_view key) {
  std::vector<int64_t> out;
  for (const Value& ids : *expected.json.find(key)->as_array())
    out.push_back(ids.as_array() ? static_cast<int64_t>(ids.as_array()->size()) : 0);
  return out;
}

/// How much there is to compare, by the folder's own account.
struct Expected {
  int64_t n_tensors = 0;  ///< logits, hidden states and maps of all inputs, and rotary tables
  int64_t n_step_rows = 0, n_greedy = 0;
};

/// An input has its logits, n_layer + 1 hidden states and n_layer maps; tests/golden lacks the longest input's inner
/// maps.
Expected expected_of(const std::filesystem::path& folder, int64_t n_layer, bool is_trimmed) {
  const Expectation expected = open_expectation(folder).value();
  const std::vector<int64_t> inputs = lengths(expected, "inputs"), greedy = lengths(expected, "greedy");
  return {.n_tensors = static_cast<int64_t>(inputs.size()) * (2 + 2 * n_layer) - (is_trimmed ? n_layer - 2 : 0),
          .n_step_rows = std::accumulate(inputs.begin(), inputs.end(), int64_t{0}),
          .n_greedy = std::accumulate(greedy.begin(), greedy.end(), int64_t{0})};
}

/// Verifies the folder, or another model with the folder's expectations, and that nothing of it was left out.
void expect_verified(const std::filesystem::path& folder, const VerifyOptions& options, Bench& bench) {
  const auto report = verify_folder(folder, options, bench.ctx);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  for (const std::string& failure : report->failures) ADD_FAILURE() << folder << ": " << failure;
  const auto checkpoint = Checkpoint::open(folder, {.needs_weights = false});
  const ModelConfig config = describe_model(*checkpoint).value().config;
  const bool is_trimmed = folder.parent_path() == repo_path("tests/golden");
  const Expected expected = expected_of(folder, config.n_layer(), is_trimmed);
  // Ten positions, cos and sin, of each kind of rotary layers.
  const auto n_tables = static_cast<int64_t>(20 * rope_kinds(config).size());
  EXPECT_EQ(report->n_compared, expected.n_tensors + (report->rope_error >= 0 ? n_tables : 0));
  EXPECT_EQ(report->rope_error >= 0, n_tables > 0 && exists(folder / "rope.safetensors"));
  EXPECT_EQ(report->n_step_rows, expected.n_step_rows);
  EXPECT_EQ(report->n_greedy, expected.n_greedy);
  EXPECT_GE(report->logits_error, 0);
  EXPECT_GE(report->hidden_error, 0);
  EXPECT_GE(report->attention_error, 0);
}

/// The goldens of our own (tools/make_knob_goldens.py): knobs that the reference's goldens leave alone.
class OwnGoldens : public ::testing::TestWithParam<const KernelTable*> {};

TEST_P(OwnGoldens, AgreeWithFloat64) {
  Bench bench(*GetParam());
  const auto folders = golden_folders(repo_path("tests/data/own"));
  ASSERT_TRUE(folders.has_value()) << folders.error().message;
  EXPECT_GE(folders->size(), 11U);
  for (const auto& folder : *folders) expect_verified(folder, {}, bench);
}

INSTANTIATE_TEST_SUITE_P(All, OwnGoldens, ::testing::ValuesIn(all_tables()),
                         [](const auto& table) { return std::string(table.param->name); });

// transformers' eager attention adds Falcon's ALiBi twice, its default attention and the published code once. We do it
// once; done twice, every stored number is met, so nothing else differs.
TEST(ReferenceFaults, FalconsAlibiIsAddedOnceWhereTheReferenceAddsItTwice) {
  Bench bench(best_kernel_table());
  for (const Golden& golden : kGoldens) {
    const auto report = verify_folder(golden_path(golden), {}, bench.ctx);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_TRUE(report->passed()) << golden;
    EXPECT_EQ(report->repeated_fault.empty(), std::string_view(golden.name) != "falcon-alibi") << golden;
  }
}

// GGUF keeps this kind's frequencies as float32 divisors, so angles differ by their rounding: 2^-24 of at most 30
// radians.
void expect_close(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 0, squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    squares += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  EXPECT_LE(worst, 30 * 0x1p-24 * std::sqrt(squares / 30));
}

/// One thread: the models are tiny, and that threads change no bit is shown elsewhere (invariance_test).
class Goldens : public ::testing::TestWithParam<GoldenCase> {
 protected:
  void SetUp() override {}

  const Golden golden_ = GetParam().golden;
  const std::filesystem::path folder_ = golden_path(golden_);
  Bench bench_{*GetParam().table};
};

TEST_P(Goldens, AgreesWithTheReference) { expect_verified(folder_, {}, bench_); }

TEST_P(Goldens, AgreesInFloat32) {
  const auto folder = shared_path(std::string("goldens/models/") + golden_.name);
  if (!folder) GTEST_SKIP() << "the shared goldens are not there";
  expect_verified(*folder, {.page_size = 8}, bench_);
}

// The GGUF twin holds the same values and says the same, so it gives the reference's numbers, and the folder's bits.
TEST_P(Goldens, GgufTwinAgreesToo) {
  if (golden_.twin == TwinKind::kNone) return;
  const GoldenTwin twin(golden_.name);
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < 30; ++i) ids.push_back((i * 37 + 5) % 384);
  Session from_gguf = make_session(load(twin.path(), bench_), 30, {}, bench_);
  const std::vector<float> a = all_logits(from_gguf, ids);
  if (golden_.twin == TwinKind::kSaysLess) return;  // it has run; its numbers are another model's
  expect_verified(folder_, {.model = twin.path()}, bench_);
  Session from_hf = make_session(load(folder_, bench_), 30, {}, bench_);
  const std::vector<float> b = all_logits(from_hf, ids);
  ASSERT_EQ(a.size(), b.size());
  if (golden_.twin == TwinKind::kRounded) return expect_close(a, b);
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0);
}

// bfloat16 weights are widened, so a float32 copy of the same checkpoint gives the same bits.
TEST_P(Goldens, Float32CopyGivesTheSameBits) {
  const auto checkpoint = Checkpoint::open(folder_);
  ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
  SafetensorsWriter writer;
  for (const WeightEntry& entry : checkpoint->tensors()) {
    ASSERT_EQ(entry.dtype, DType::kBF16);
    const ConstTensorView view = checkpoint->view(entry);
    std::vector<float> values(static_cast<size_t>(entry.shape.n_elements()));
    dequantize_row(entry.dtype, view.data, entry.shape.n_elements(), values.data());
    writer.add(entry.name, DType::kF32, entry.shape, bytes_of(values));
  }
  TempFolder copy;
  std::filesystem::copy(folder_ / "config.json", copy.path());
  write_file(copy.path() / "model.safetensors", writer.bytes());
  const std::vector<int32_t> ids{5, 300, 17, 17, 255, 1, 90};
  Session narrow = make_session(load(folder_, bench_), 7, {}, bench_);
  Session wide = make_session(load(copy.path(), bench_), 7, {}, bench_);
  const std::vector<float> a = all_logits(narrow, ids), b = all_logits(wide, ids);
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0);
}

INSTANTIATE_TEST_SUITE_P(All, Goldens, ::testing::ValuesIn(golden_cases()), [](const auto& param) {
  return test_name(param.param.golden) + "_" + param.param.table->name;
});

/// Names of the goldens for which `is_wanted` is true.
template <class Wanted>
std::set<std::string> golden_names(Wanted is_wanted) {
  std::set<std::string> names;
  for (const Golden& golden : kGoldens) {
    if (is_wanted(golden)) names.insert(golden.name);
  }
  return names;
}

// No golden lies there untested.
TEST(GoldenList, IsWhatIsThere) {
  const auto root = repo_path("tests/golden");
  std::set<std::string> folders, twins;
  const auto paths = golden_folders(root).value();
  for (const auto& folder : paths) folders.insert(folder.filename());
  for (const auto& patch : std::filesystem::directory_iterator(root / "gguf")) twins.insert(patch.path().stem());
  EXPECT_EQ(golden_names([](const Golden&) { return true; }), folders);
  EXPECT_EQ(golden_names([](const Golden& golden) { return golden.twin != TwinKind::kNone; }), twins);
}

// A family cannot be registered without a checkpoint that proves it.
TEST(Registry, EveryFamilyThatRunsHasAGolden) {
  for (const Architecture* arch : all_architectures()) {
    if (!arch->runs) continue;
    const auto is_its = [&](const Golden& golden) { return arch->golden == golden.name; };
    EXPECT_FALSE(golden_names(is_its).empty()) << arch->name << " names golden '" << arch->golden << "'";
  }
}

/// A copy of a golden without the named file, which the test writes itself.
void copy_without(const std::string& file, const std::filesystem::path& to) {
  for (const auto& entry : std::filesystem::directory_iterator(repo_path("tests/golden/llama-gqa"))) {
    if (entry.path().filename() != file) std::filesystem::copy(entry.path(), to);
  }
}

VerifyReport verified(const std::filesystem::path& folder) {
  Bench bench(best_kernel_table());
  const auto report = verify_folder(folder, {}, bench.ctx);
  EXPECT_TRUE(report.has_value()) << report.error().message;
  return report.value_or(VerifyReport{});
}

// A folder without expectations proves nothing, and says so.
TEST(Verify, MissingExpectationsFail) {
  TempFolder copy;
  copy_without("expected.safetensors", copy.path());
  std::filesystem::remove(copy.path() / "rope.safetensors");
  write_file(copy.path() / "expected.safetensors", safetensors_bytes("{}", ""));
  const VerifyReport report = verified(copy.path());
  EXPECT_FALSE(report.passed());
  EXPECT_EQ(report.n_compared, 0);
}

/// Tensors of one of the golden's files, each as `change(name, values)` leaves it; false leaves it out.
template <class Change>
void rewrite(const std::string& file, const std::filesystem::path& to, Change change) {
  const auto stored = StoredTensors::open(repo_path("tests/golden/llama-gqa/" + file)).value();
  SafetensorsWriter writer;
  for (const WeightEntry& entry : stored.index()) {
    const ConstRows rows = stored.find(entry.name).value();
    std::vector<float> values(rows.data, rows.data + rows.n_rows * rows.width);
    if (change(entry.name, values)) writer.add(entry.name, DType::kF32, entry.shape, bytes_of(values));
  }
  write_file(to / file, writer.bytes());
}

// Only inner maps may be missing: of four layers those of 1 and 2.
TEST(Verify, OnlyInnerMapsMayBeMissing) {
  for (const auto& [name, passes] : std::vector<std::pair<std::string, bool>>{
           {"attn.1.1", true}, {"attn.1.2", true}, {"attn.1.0", false}, {"attn.1.3", false}, {"hidden.1.2", false}}) {
    TempFolder copy;
    copy_without("expected.safetensors", copy.path());
    rewrite("expected.safetensors", copy.path(),
            [&wanted = name](const std::string& entry, auto&) { return entry != wanted; });
    EXPECT_EQ(verified(copy.path()).passed(), passes) << name;
  }
}

// Some families of the reference repeat each angle of a table beside itself instead of all angles after all.
TEST(Verify, KnowsBothLayoutsOfRotaryTables) {
  for (const bool has_fault : {false, true}) {
    TempFolder copy;
    copy_without("rope.safetensors", copy.path());
    rewrite("rope.safetensors", copy.path(), [&](const std::string& name, std::vector<float>& values) {
      const std::vector<float> halves = values;
      for (size_t i = 0; i < values.size(); ++i) values[i] = halves[i / 2];
      if (has_fault && name == "sin.17") values.back() = -values.back();
      return true;
    });
    EXPECT_EQ(verified(copy.path()).passed(), !has_fault);
  }
}

// The test would see a wrong number: a changed weight fails.
TEST(Verify, SeesAChangedWeight) {
  TempFolder copy;
  copy_without("model.safetensors", copy.path());
  const auto checkpoint = Checkpoint::open(repo_path("tests/golden/llama-gqa"));
  ASSERT_TRUE(checkpoint.has_value());
  SafetensorsWriter writer;
  for (const WeightEntry& entry : checkpoint->tensors()) {
    const auto bytes = checkpoint->view(entry).bytes();
    std::string data(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (entry.name == "model.layers.2.mlp.up_proj.weight") data[101] = static_cast<char>(data[101] ^ 0x01);
    writer.add(entry.name, entry.dtype, entry.shape, data);
  }
  write_file(copy.path() / "model.safetensors", writer.bytes());
  EXPECT_FALSE(verified(copy.path()).passed());
}

// A twin that describes the same model must agree; one that is silent about a fact only has to run.
TEST(VerifyGolden, JudgesTwinsByWhatTheySay) {
  Bench bench(best_kernel_table());
  const auto judge = [&](const std::string& golden, const std::string& twin_of) {
    const GoldenTwin twin(twin_of);
    return verify_golden(repo_path("tests/golden/" + golden), twin.path(), {}, bench.ctx);
  };
  const GoldenVerdict sound = judge("llama-gqa", "llama-gqa");
  EXPECT_FALSE(sound.has_failed());
  EXPECT_TRUE(sound.twin_cannot_say.empty() && sound.twin_contradicts.empty());
  EXPECT_TRUE(sound.twin.value().value().passed());
  const GoldenVerdict says_less = judge("mistral-sliding", "mistral-sliding");
  EXPECT_FALSE(says_less.has_failed());
  EXPECT_FALSE(says_less.twin.value().value().passed());
  EXPECT_EQ(says_less.twin_cannot_say, (std::vector<std::string>{"attn.mask", "attn.window"}));
  // Other models' twins: one whose tensor of factors could stand for the same stretching, and one that contradicts.
  EXPECT_TRUE(judge("llama-rope-linear", "llama-rope-llama3").has_failed());
  const GoldenVerdict foreign = judge("mistral-sliding", "llama-rope-linear");
  EXPECT_TRUE(foreign.has_failed());
  EXPECT_EQ(foreign.twin_contradicts, (std::vector<std::string>{"rope.scaling"}));
}

}  // namespace
}  // namespace vitro::testing
