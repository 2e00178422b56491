// The readers against the reference readers (Python's gguf and safetensors) over real files: names, types, shapes,
// offsets and metadata, as one hash a file. tools/make_format_expectations.py describes the listing and makes
// tests/data/formats/tables.json.
#include <gtest/gtest.h>

#include <bit>

#include "formats/checkpoint.h"
#include "formats/json.h"
#include "formats/safetensors.h"
#include "testing/shared_data.h"

namespace vitro {
namespace {

namespace fs = std::filesystem;

uint64_t fnv(std::string_view data, uint64_t state = 0xcbf29ce484222325) {
  for (const char c : data) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return state;
}

std::string line_of(std::string_view key, const GgufArray& array) {
  uint64_t hash = fnv({reinterpret_cast<const char*>(array.raw.data()), array.raw.size()});
  for (const std::string_view text : array.strings) hash = fnv(text, hash);
  return fmt::format("{} array {} {} {:016x}\n", key, static_cast<uint32_t>(array.element), array.count, hash);
}

std::string line_of(const GgufPair& pair) {
  if (const auto* array = std::get_if<GgufArray>(&pair.value)) return line_of(pair.key, *array);
  if (const auto* text = std::get_if<std::string_view>(&pair.value))
    return fmt::format("{} string {:016x}\n", pair.key, fnv(*text));
  if (const auto* x = std::get_if<double>(&pair.value))
    return fmt::format("{} real {:016x}\n", pair.key, std::bit_cast<uint64_t>(*x));
  if (const auto* b = std::get_if<bool>(&pair.value)) return fmt::format("{} integer {}\n", pair.key, *b ? 1 : 0);
  return fmt::format("{} integer {}\n", pair.key, std::get<int64_t>(pair.value));
}

std::string listing_of(const std::vector<GgufPair>& metadata, const WeightIndex& tensors) {
  std::string out;
  for (const GgufPair& pair : metadata) out += line_of(pair);
  for (const WeightEntry& entry : tensors) {
    out += fmt::format("{} {} {} {} {}\n", entry.name, dtype_info(entry.dtype).name, to_string(entry.shape),
                       entry.begin, entry.end);
  }
  return out;
}

/// The listing of one file, or the reader's words.
std::string listing_of(const fs::path& path, size_t& n_tensors) {
  const auto file = MappedFile::open(path);
  if (!file) return file.error().message;
  if (path.extension() == ".gguf") {
    const auto gguf = read_gguf(file->bytes(), path.string());
    if (!gguf) return gguf.error().message;
    n_tensors = gguf->tensors.size();
    return listing_of(gguf->metadata, gguf->tensors);
  }
  const auto safetensors = read_safetensors(file->bytes(), path.string());
  if (!safetensors) return safetensors.error().message;
  n_tensors = safetensors->tensors.size();
  return listing_of({}, safetensors->tensors);
}

/// Compares every file of the table that `find` has, and returns how many that were.
template <class Find>
int compare_files(Find find) {
  const auto table_file = MappedFile::open(testing::repo_path("tests/data/formats/tables.json"));
  EXPECT_TRUE(table_file.has_value());
  if (!table_file) return 0;
  const auto bytes = table_file->bytes();
  const auto table = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "tables.json");
  int n_compared = 0;
  for (const auto& [name, row] : *table->as_object()) {
    const std::optional<fs::path> path = find(name);
    if (!path) continue;
    size_t n_tensors = 0;
    const std::string listing = listing_of(*path, n_tensors);
    EXPECT_EQ(static_cast<int64_t>(n_tensors), *row.as_array()->at(0).as_int()) << name;
    EXPECT_EQ(fmt::format("{:016x}", fnv(listing)), *row.as_array()->at(1).as_string()) << name << "\n"
                                                                                        << listing.substr(0, 2000);
    ++n_compared;
  }
  return n_compared;
}

TEST(Reference, AgreesOverTheSharedFiles) {
  if (!testing::shared_path("goldens")) GTEST_SKIP() << "needs ../shared/goldens";
  EXPECT_EQ(compare_files([](std::string_view name) { return testing::shared_path(name); }), 101);
}

TEST(Reference, AgreesOverTheRealModels) {
  const auto find = [](std::string_view name) -> std::optional<fs::path> {
    constexpr std::string_view kPrefix = "cache/";
    return name.substr(0, kPrefix.size()) == kPrefix ? testing::cached_model(name.substr(kPrefix.size()))
                                                     : std::nullopt;
  };
  if (compare_files(find) == 0) GTEST_SKIP() << "no downloaded model is there; 'vitro pull' brings them";
}

TEST(Reference, OpensEveryGoldenFolder) {
  const auto models = testing::shared_path("goldens/models");
  if (!models) GTEST_SKIP() << "needs ../shared/goldens";
  int n_models = 0;
  for (const auto& entry : fs::directory_iterator(*models)) {
    const auto model = Checkpoint::open(entry.path());
    EXPECT_TRUE(model.has_value()) << (model ? "" : model.error().message);
    n_models += model.has_value();
  }
  EXPECT_EQ(n_models, 60);
}

TEST(Reference, OpensTheTrainedLlama2cModel) {
  const auto path = testing::shared_path("data/weights/stories260K/stories260K.bin");
  if (!path) GTEST_SKIP() << "needs ../shared/data";
  const auto model = Checkpoint::open(*path);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->format(), SourceFormat::kLlama2c);
  // The published numbers of this model (llama2.c, doc/stories260K.md).
  EXPECT_EQ(
      to_string(model->config()),
      R"({"dim":64,"hidden_dim":172,"n_layers":5,"n_heads":8,"n_kv_heads":4,"vocab_size":512,"seq_len":512,"shared_classifier":true})");
}

}  // namespace
}  // namespace vitro
