// The catalogue: its rules, hostile files, and figure by figure against 17 descriptions of another planner.
#include "plan/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>

#include "formats/json.h"
#include "formats/mapped_file.h"
#include "testing/expect_error.h"
#include "testing/shared_data.h"
#include "testing/temp_folder.h"

namespace vitro::testing {
namespace {

using ::testing::HasSubstr;

// By value: a loop over a part of a temporary would outlive it.
std::vector<Device> all_devices() { return builtin_devices().value(); }

Device device_of(std::string_view name) {
  const std::vector<Device> devices = all_devices();
  return **find_device(devices, name);
}

// NVIDIA H100 data sheet: 80 GB, 3.35 TB/s, 1,979 TFLOPS of bf16 with sparsity, NVLink 900 GB/s both ways, 700 W.
TEST(Devices, H100) {
  const Device h100 = device_of("h100-80g");
  EXPECT_EQ(h100.memory_bytes, int64_t{80} << 30);
  EXPECT_EQ(h100.n_bytes(), int64_t{81559} << 20);
  EXPECT_DOUBLE_EQ(h100.bandwidth.value, 3.35e12);
  EXPECT_DOUBLE_EQ(h100.peak(PeakType::kBf16).value, 1979e12 / 2);
  EXPECT_DOUBLE_EQ(h100.peak(PeakType::kFp8).value, 3958e12 / 2);
  EXPECT_DOUBLE_EQ(h100.link.value, 450e9);
  EXPECT_DOUBLE_EQ(h100.board_power.value, 700);
  EXPECT_FALSE(h100.peak(PeakType::kFp4).is_known());
}

TEST(Devices, EveryFigureHasASource) {
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.name);
    EXPECT_FALSE(device.memory_source.empty());
    EXPECT_FALSE(device.bandwidth.source.empty());
    EXPECT_EQ(device.usable_bytes > 0, !device.usable_source.empty());
    EXPECT_EQ(device.link.is_known(), !device.link.source.empty());
    for (const Figure& peak : device.peaks) EXPECT_EQ(peak.is_known(), !peak.source.empty());
    // A source is spelt out, not a key that nothing explains.
    EXPECT_THAT(device.bandwidth.source, HasSubstr(" "));
  }
}

// Narrower types are never slower, of types that a device has.
TEST(Devices, NarrowTypesAreFaster) {
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.name);
    const std::vector<std::vector<PeakType>> chains = {
        {PeakType::kF32, PeakType::kTf32, PeakType::kF16, PeakType::kFp8, PeakType::kFp4},
        {PeakType::kF32, PeakType::kBf16, PeakType::kInt8}};
    for (const std::vector<PeakType>& chain : chains) {
      double before = 0;
      for (const PeakType type : chain) {
        if (!device.peak(type).is_known()) continue;
        EXPECT_GE(device.peak(type).value, before) << peak_type_name(type);
        before = device.peak(type).value;
      }
    }
  }
}

TEST(Devices, NamesAndNearNames) {
  const std::vector<Device> devices = builtin_devices().value();
  EXPECT_EQ((*find_device(devices, "H100"))->name, "h100-80g");
  EXPECT_EQ((*find_device(devices, "4090"))->name, "rtx-4090-24g");
  EXPECT_EQ((*find_device(devices, "a100"))->name, "a100-80g");
  expect_error(find_device(devices, "h10O-80g"), ErrorCode::kNotFound, "did you mean h100-80g");
  expect_error(find_device(devices, ""), ErrorCode::kNotFound, "there are t4-16g");
  expect_error(find_device(devices, std::string(100000, 'x')), ErrorCode::kNotFound, "there are t4-16g");
  expect_error(find_device({}, "h100"), ErrorCode::kNotFound, "no device");
}

TEST(Devices, TypesOfProducts) {
  const Device h100 = device_of("h100"), v100 = device_of("v100"), apple = device_of("m2-ultra");
  EXPECT_EQ(compute_type(h100, "bf16"), PeakType::kBf16);
  EXPECT_EQ(compute_type(h100, "F8_E4M3"), PeakType::kFp8);
  EXPECT_EQ(compute_type(h100, "q4_k"), PeakType::kBf16);
  EXPECT_EQ(compute_type(v100, "bf16"), PeakType::kF16);
  // 4 bits are widened, whatever an INT4 or FP4 tensor core could do: no engine rounds activations to 4 bits for them.
  for (const std::string_view four_bits : {"int4", "nf4", "nf4-dq", "fp4", "q4_k"}) {
    EXPECT_EQ(compute_type(device_of("a100"), four_bits), PeakType::kBf16) << four_bits;
    EXPECT_EQ(compute_type(device_of("t4"), four_bits), PeakType::kF16) << four_bits;
    EXPECT_EQ(compute_type(device_of("b200"), four_bits), PeakType::kBf16) << four_bits;
  }
  EXPECT_EQ(compute_type(device_of("a100"), "int8"), PeakType::kInt8);
  EXPECT_TRUE(narrows_activations(PeakType::kInt8) && narrows_activations(PeakType::kFp8));
  EXPECT_FALSE(narrows_activations(PeakType::kBf16));
  EXPECT_EQ(compute_type(v100, "fp8"), PeakType::kF16);
  EXPECT_EQ(compute_type(apple, "bf16"), PeakType::kF32);
}

// ---- files of users ----

constexpr std::string_view kOwn =
    R"({"devices": [{"name": "Mine", "memory": {"bytes": 1000, "source": "me"}, "bandwidth_gb_s": {"value": 2.5, "source": "me"},
        "peaks_tflops": {"f32": 1}, "source": "us"}]})";

TEST(Devices, OwnFile) {
  TempFolder folder;
  std::ofstream(folder.path() / "own.json") << kOwn;
  const std::vector<Device> devices = load_devices((folder.path() / "own.json").string()).value();
  EXPECT_EQ(devices.size(), builtin_devices()->size() + 1);
  const Device& mine = **find_device(devices, "mine");
  EXPECT_EQ(mine.memory_bytes, 1000);
  EXPECT_DOUBLE_EQ(mine.bandwidth.value, 2.5e9);
  EXPECT_EQ(mine.bandwidth.source, "me");
  EXPECT_EQ(mine.peak(PeakType::kF32).source, "us");
  expect_error(load_devices((folder.path() / "none.json").string()), ErrorCode::kNotFound, "none.json");
}

TEST(Devices, OwnDeviceReplacesABuiltIn) {
  TempFolder folder;
  std::string text(kOwn);
  text.replace(text.find("Mine"), 4, "h100-80g");
  std::ofstream(folder.path() / "own.json") << text;
  const std::vector<Device> devices = load_devices((folder.path() / "own.json").string()).value();
  EXPECT_EQ(devices.size(), builtin_devices()->size());
  EXPECT_EQ((*find_device(devices, "h100-80g"))->memory_bytes, 1000);
}

TEST(Devices, TextsAreShort) {
  std::string text(kOwn);
  text.replace(text.find("Mine"), 4, std::string(101, 'x'));
  expect_error(parse_devices(text, "own"), ErrorCode::kCorrupt, "devices[0]: name: expected a text");
  text = kOwn;
  text.replace(text.find("\"us\""), 4, '"' + std::string(401, 'x') + '"');
  expect_error(parse_devices(text, "own"), ErrorCode::kCorrupt, "at most 400 bytes");
}

// 64 GiB of nothing: refused by its size, before a copy is made.
TEST(Devices, LargeFilesAreNotRead) {
  TempFolder folder;
  std::ofstream(folder.path() / "big.json") << "{}";
  std::filesystem::resize_file(folder.path() / "big.json", uintmax_t{64} << 30);
  expect_error(load_devices((folder.path() / "big.json").string()), ErrorCode::kCorrupt,
               "at most 4194304 bytes expected");
}

struct Hostile {
  std::string_view from, to, says;
};

TEST(Devices, HostileFiles) {
  const std::vector<Hostile> cases = {
      {"\"bytes\": 1000", "\"bytes\": -1", "expected a whole number"},
      {"\"bytes\": 1000", "\"bytes\": 0", "expected a whole number"},
      {"\"bytes\": 1000", "\"bytes\": 9223372036854775807", "expected a whole number"},
      {"\"bytes\": 1000", "\"bytes\": \"80 GB\"", "expected a whole number"},
      {"\"bytes\": 1000", "\"bytes\": 1000, \"usable_bytes\": 2000", "more is usable"},
      {"\"value\": 2.5", "\"value\": 0", "above 0"},
      {"\"value\": 2.5", "\"value\": -3", "above 0"},
      {"\"value\": 2.5", "\"value\": 1e300", "above 0"},
      {"\"value\": 2.5", "\"value\": \"x\"", "above 0"},
      {"\"value\": 2.5", "\"val\": 2.5", "unknown key"},
      {"bandwidth_gb_s", "bandwidth", "bandwidth_gb_s is missing"},
      {"\"f32\"", "\"f33\"", "known: f32, tf32"},
      {"\"f32\": 1", "\"f32\": 1, \"f32\": 2", "f32"},
      {"\"Mine\"", "\"\"", "not empty"},
      {"\"Mine\"", "7", "devices[0]: name: expected a text"},
      {"\"Mine\"", "\"\\u001b[2J\"", "control characters"},
      {"\"Mine\"", "\"\\u009b2J\"", "control characters"},
      {"\"source\": \"us\"", "\"title\": \"a\\nb\"", "title: expected a text"},
      {"\"source\": \"us\"", "\"aliases\": [\"\\u007f\"]", "aliases: expected a text"},
      {"\"source\": \"us\"", "\"source\": \"\\u001b\"", "source: expected a text"},
      {"\"source\": \"us\"", "\"link\": {\"name\": \"\\u001b\", \"gb_s\": 1, \"n_devices\": 2}", "link: name"},
      {"{\"devices\"", "{\"sources\": {\"us\": \"\\u001b\"}, \"devices\"", "sources: \"us\": expected a text"},
      {"\"source\": \"us\"", "\"link\": {\"name\": \"x\", \"gb_s\": 1, \"n_devices\": 2.7}",
       "n_devices: expected a whole"},
      // A device without a name is not reported under the one before it.
      {"\"us\"}", "\"us\"}, {\"memory\": 7}", "devices[1]: name: expected a text"},
      {"{\"f32\": 1}", "[]", "expected an object"},
      {"\"devices\": [", "\"devices\": [[], ", "expected an object"},
      {"\"source\": \"us\"", "\"aliases\": [\"mine\"]", "twice"},
      {"\"source\": \"us\"", "\"link\": {\"name\": \"x\", \"gb_s\": 1, \"n_devices\": 1e9}", "n_devices"},
      {"{\"devices\"", "{\"device\"", "unknown key"},
      {"}]}", "}]", "own"},
  };
  ASSERT_TRUE(parse_devices(kOwn, "own"));
  for (const Hostile& hostile : cases) {
    std::string text(kOwn);
    ASSERT_NE(text.find(hostile.from), std::string::npos) << hostile.from;
    text.replace(text.find(hostile.from), hostile.from.size(), hostile.to);
    expect_error(parse_devices(text, "own"), ErrorCode::kCorrupt, std::string(hostile.says));
  }
}

// ---- llm-analysis ----

/// Where the other catalogue differs from the data sheets, and how.
const std::map<std::string, std::string> kKnownDifferences = {
    {"a10-pcie-28gb memory", "the A10 has 24 GB"},
    {"v100-sxm-16gb memory", "copied from the 32 GB variant"},
    {"mi100-32gb int8", "twice the data sheet's 184.6"},
    {"mi100-32gb int4", "four times the data sheet's 184.6"},
    {"mi210-64gb int8", "twice the data sheet's 181"},
    {"mi210-64gb int4", "four times the data sheet's 181"},
    {"mi250-128gb int8", "twice the data sheet's 362.1"},
    {"mi250-128gb int4", "four times the data sheet's 362.1"},
    {"mi250x-128gb int8", "twice the data sheet's 383"},
    {"mi250x-128gb int4", "four times the data sheet's 383"},
    {"h100-pcie-80gb int4", "Hopper's tensor cores have no int4"},
    {"h100-sxm-80gb int4", "Hopper's tensor cores have no int4"},
    {"mi250-128gb link", "not known here: sources disagree about its links"},
};

const std::map<std::string, std::string> kOurNames = {
    {"a10-pcie-28gb", "a10-24g"},        {"a100-sxm-40gb", "a100-40g"},     {"a100-sxm-80gb", "a100-80g"},
    {"a10g-pcie-24gb", "a10g-24g"},      {"h100-sxm-80gb", "h100-80g"},     {"v100-pcie-16gb", "v100-pcie-16g"},
    {"v100-pcie-32gb", "v100-pcie-32g"}, {"v100-sxm-16gb", "v100-sxm-16g"}, {"v100-sxm-32gb", "v100-sxm-32g"},
};

std::string our_name(const std::string& theirs) {
  const auto known = kOurNames.find(theirs);
  return known != kOurNames.end() ? known->second : theirs.substr(0, theirs.size() - 1);  // "mi100-32gb"
}

double number(const Value& value, std::string_view key) {
  const Value& found = *value.find(key);
  return found.as_int() ? static_cast<double>(*found.as_int()) : *found.as_real();
}

/// Relative; they round to whole numbers (989 for 989.5, 1638 for 1638.4), and PCIe loses 1.5 % to its encoding.
bool agrees(double ours, double theirs, double tolerance) {
  return ours == theirs || std::abs(ours - theirs) <= tolerance * std::max(ours, theirs);
}

TEST(Devices, AgreeWithAnotherPlannersOrSayWhy) {
  const auto folder = shared_path("data/configs/llm-analysis/gpu_configs");
  if (!folder) GTEST_SKIP() << "no shared data";
  int n_files = 0;
  std::map<std::string, std::string> unused = kKnownDifferences;
  for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
    ++n_files;
    const std::string name = entry.path().stem().string();
    const MappedFile file = MappedFile::open(entry.path()).value();
    const Value theirs = parse_json(file.text(), name).value();
    const Device ours = device_of(our_name(name));
    const auto compare = [&](const std::string& what, double our_figure, double their_figure, double tolerance) {
      const std::string key = name + " " + what;
      const bool is_known = kKnownDifferences.contains(key);
      unused.erase(key);
      EXPECT_NE(agrees(our_figure, their_figure, tolerance), is_known)
          << key << ": " << our_figure << " " << their_figure;
    };
    compare("memory", static_cast<double>(ours.memory_bytes >> 30), number(theirs, "mem_per_GPU_in_GB"), 0);
    compare("bandwidth", ours.bandwidth.value / 1e9, number(theirs, "hbm_bandwidth_in_GB_per_sec"), 0.025);
    compare("f16", ours.peak(PeakType::kF16).value / 1e12, number(theirs, "peak_fp16_TFLOPS"), 0.001);
    compare("int8", ours.peak(PeakType::kInt8).value / 1e12, number(theirs, "peak_i8_TFLOPS"), 0.001);
    compare("int4", ours.peak(PeakType::kInt4).value / 1e12, number(theirs, "peak_i4_TFLOPS"), 0.001);
    compare("link", ours.link.value / 1e9, number(theirs, "intra_node_bandwidth_in_GB_per_sec"), 0.016);
  }
  EXPECT_EQ(n_files, 17);
  EXPECT_TRUE(unused.empty()) << unused.begin()->first << " no longer differs";
}

}  // namespace
}  // namespace vitro::testing
