#include "formats/checkpoint.h"

#include <gtest/gtest.h>

#include "testing/expect_error.h"
#include "testing/safetensors_writer.h"
#include "testing/temp_folder.h"

namespace vitro {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::GgufWriter;
using testing::SafetensorsWriter;
using testing::write_file;

constexpr OpenOptions kNoWeights{.mode = LoadMode::kMap, .needs_weights = false};

/// A model folder of its own for each test.
class CheckpointTest : public ::testing::Test {
 protected:
  void put(const std::string& name, std::string_view contents) const { write_file(folder_ / name, contents); }
  /// Two shards and their index: "a" and "b" in the first, "c" in the second.
  void put_shards() const {
    put("config.json", "{}");
    put("m-1.safetensors", SafetensorsWriter().add("b", DType::kI8, {2}, "b2").add("a", DType::kI8, {1}, "1").bytes());
    put("m-2.safetensors", SafetensorsWriter().add("c", DType::kI8, {3}, "c33").bytes());
    put("model.safetensors.index.json",
        R"({"weight_map":{"a":"m-1.safetensors","b":"m-1.safetensors","c":"m-2.safetensors"}})");
  }
  const testing::TempFolder temp_;
  const fs::path& folder_ = temp_.path();
};

std::string text_of(const Checkpoint& checkpoint, std::string_view name) {
  const WeightEntry* entry = checkpoint.find(name);
  if (entry == nullptr) return "(none)";
  const auto bytes = checkpoint.view(*entry).bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string small_gguf() {
  GgufWriter writer;
  writer.add("general.architecture", "llama").add("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b"});
  return writer.add_tensor("w", DType::kI8, {4}, "wwww").bytes();
}

TEST_F(CheckpointTest, OpensAFolder) {
  put("config.json", R"({"model_type":"llama","n":1})");
  put("generation_config.json", R"({"top_k":5})");
  put("model.safetensors", SafetensorsWriter().add("w", DType::kI8, {2, 2}, "abcd").bytes());
  for (const LoadMode mode : {LoadMode::kMap, LoadMode::kRead}) {
    auto model = Checkpoint::open(folder_, {.mode = mode});
    ASSERT_TRUE(model.has_value()) << model.error().message;
    EXPECT_EQ(model->format(), SourceFormat::kHuggingFace);
    EXPECT_EQ(model->path(), folder_);
    EXPECT_TRUE(model->has_weights());
    EXPECT_EQ(*model->config().find("model_type")->as_string(), "llama");
    EXPECT_EQ(*model->generation_config().find("top_k")->as_int(), 5);
    EXPECT_EQ(model->gguf(), nullptr);
    EXPECT_EQ(model->file_bytes(), fs::file_size(folder_ / "model.safetensors"));
    EXPECT_EQ(text_of(*model, "w"), "abcd");
    EXPECT_EQ(model->find("v"), nullptr);
    model->release(*model->find("w"), 0, 4);
    model->release(*model->find("w"), 3, 1);
    EXPECT_EQ(text_of(*model, "w"), "abcd");
    const Checkpoint moved = std::move(*model);
    EXPECT_EQ(text_of(moved, "w"), "abcd");
  }
}

TEST_F(CheckpointTest, OpensShards) {
  put_shards();
  const auto model = Checkpoint::open(folder_);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->tensors().size(), 3u);
  EXPECT_EQ(text_of(*model, "a"), "1");
  EXPECT_EQ(text_of(*model, "b"), "b2");
  EXPECT_EQ(text_of(*model, "c"), "c33");
  EXPECT_TRUE(model->generation_config().is_null());
  EXPECT_EQ(model->file_bytes(),
            fs::file_size(folder_ / "m-1.safetensors") + fs::file_size(folder_ / "m-2.safetensors"));
}

TEST_F(CheckpointTest, ShardsHoldExactlyWhatTheIndexSays) {
  put_shards();
  put("m-2.safetensors", SafetensorsWriter().add("d", DType::kI8, {1}, "d").bytes());
  expect_error(Checkpoint::open(folder_), ErrorCode::kCorrupt,
               "m-2.safetensors: lacks what the index places in it: 'c'");
  put("m-2.safetensors", SafetensorsWriter().add("c", DType::kI8, {1}, "c").add("d", DType::kI8, {1}, "d").bytes());
  expect_error(Checkpoint::open(folder_), ErrorCode::kCorrupt,
               "m-2.safetensors: holds 2 tensors, the index places 1 in it");
  fs::remove(folder_ / "m-2.safetensors");
  fs::remove(folder_ / "m-1.safetensors");
  expect_error(Checkpoint::open(folder_), ErrorCode::kNotFound,
               "2 of 2 shards are missing: 'm-1.safetensors', 'm-2.safetensors'");
  const auto model = Checkpoint::open(folder_, kNoWeights);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_FALSE(model->has_weights());
}

TEST_F(CheckpointTest, ShardNamesAreCheckedBeforeAnyFileIsTouched) {
  put_shards();
  put("model.safetensors.index.json", R"({"weight_map":{"a":"../m-1.safetensors"}})");
  expect_error(Checkpoint::open(folder_), ErrorCode::kCorrupt,
               "shard name '../m-1.safetensors' is not a plain file name");
}

TEST_F(CheckpointTest, FollowsTheLinksOfTheHuggingFaceCache) {
  const fs::path snapshot = folder_ / "snapshots" / "0123";
  fs::create_directories(snapshot);
  fs::create_directories(folder_ / "blobs");
  put("blobs/c", "{}");
  put("blobs/w", SafetensorsWriter().add("w", DType::kI8, {1}, "w").bytes());
  fs::create_symlink("../../blobs/c", snapshot / "config.json");
  fs::create_symlink("../../blobs/w", snapshot / "model.safetensors");
  const auto model = Checkpoint::open(snapshot);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(text_of(*model, "w"), "w");
}

TEST_F(CheckpointTest, LinksInACircleAndEndlessNamesAreErrorsNotExceptions) {
  fs::create_symlink("config.json", folder_ / "config.json");
  expect_error(Checkpoint::open(folder_), ErrorCode::kNotFound, "no config.json");
  expect_error(Checkpoint::open(folder_ / "config.json"), ErrorCode::kNotFound, "no such file or folder");
  expect_error(Checkpoint::open(folder_ / std::string(5000, 'n')), ErrorCode::kNotFound, "no such file or folder");
  fs::remove(folder_ / "config.json");
  put_shards();
  fs::remove(folder_ / "m-2.safetensors");
  fs::create_symlink("m-2.safetensors", folder_ / "m-2.safetensors");
  expect_error(Checkpoint::open(folder_), ErrorCode::kNotFound, "1 of 2 shards are missing: 'm-2.safetensors'");
}

TEST_F(CheckpointTest, OpensGgufByMagicWhateverItsName) {
  put("model.dat", small_gguf());
  const auto model = Checkpoint::open(folder_ / "model.dat");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->format(), SourceFormat::kGguf);
  EXPECT_EQ(to_string(model->config()), R"({"general.architecture":"llama"})");
  ASSERT_NE(model->gguf(), nullptr);
  EXPECT_EQ(model->gguf()->find_array("tokenizer.ggml.tokens")->strings[1], "b");
  EXPECT_EQ(text_of(*model, "w"), "wwww");
}

TEST_F(CheckpointTest, OpensTheOneGgufOfAFolder) {
  put("one.gguf", small_gguf());
  const auto model = Checkpoint::open(folder_);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->path(), folder_ / "one.gguf");
  put("two.gguf", small_gguf());
  expect_error(Checkpoint::open(folder_), ErrorCode::kInvalidArgument, "name the file to open: 'one.gguf', 'two.gguf'");
}

TEST_F(CheckpointTest, OpensLlama2c) {
  const std::vector<int32_t> header = {2, 2, 1, 1, 1, 3, 4};
  const std::vector<float> weights(6 + 2 + 4 + 4 + 4 + 4 + 2 + 12 + 2 + 8, 0.5f);
  put("tiny.bin", testing::bytes_of(header) + testing::bytes_of(weights));
  const auto model = Checkpoint::open(folder_ / "tiny.bin");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->format(), SourceFormat::kLlama2c);
  EXPECT_EQ(*model->config().find("dim")->as_int(), 2);
  EXPECT_EQ(model->view(*model->find("layers.0.feed_forward.w1.weight")).shape, (Shape{2, 2}));
}

TEST_F(CheckpointTest, DescriptionsAreEnoughWhereNoWeightsAreNeeded) {
  put("config.json", R"({"model_type":"gpt2"})");
  for (const fs::path& path : {folder_, folder_ / "config.json"}) {
    const auto model = Checkpoint::open(path, kNoWeights);
    ASSERT_TRUE(model.has_value()) << model.error().message;
    EXPECT_FALSE(model->has_weights());
    EXPECT_EQ(*model->config().find("model_type")->as_string(), "gpt2");
  }
  const std::string gguf = small_gguf();
  put("cut.gguf", gguf.substr(0, gguf.size() - 32));
  expect_error(Checkpoint::open(folder_ / "cut.gguf"), ErrorCode::kCorrupt, "the download may be incomplete");
  const auto cut = Checkpoint::open(folder_ / "cut.gguf", kNoWeights);
  ASSERT_TRUE(cut.has_value()) << cut.error().message;
  EXPECT_FALSE(cut->has_weights());
  EXPECT_NE(cut->find("w"), nullptr);
  const std::string weights = SafetensorsWriter().add("w", DType::kI8, {4}, "abcd").bytes();
  put("model.safetensors", weights.substr(0, weights.size() - 1));
  expect_error(Checkpoint::open(folder_), ErrorCode::kCorrupt, "the download may be incomplete");
  const auto folder = Checkpoint::open(folder_, kNoWeights);
  ASSERT_TRUE(folder.has_value()) << folder.error().message;
  EXPECT_FALSE(folder->has_weights());
  EXPECT_NE(folder->find("w"), nullptr);
}

TEST_F(CheckpointTest, SaysWhatToDoAboutWhatItCannotOpen) {
  expect_error(Checkpoint::open(folder_ / "none"), ErrorCode::kNotFound, "none: no such file or folder; give ");
  expect_error(Checkpoint::open(folder_), ErrorCode::kNotFound, ": no config.json; expected a folder with ");
  put("config.json", "{}");
  expect_error(Checkpoint::open(folder_), ErrorCode::kNotFound, ": no model.safetensors or ");
  expect_error(Checkpoint::open(folder_ / "config.json"), ErrorCode::kNotFound, "give the folder");
  put("pytorch_model.bin", std::string("PK\x03\x04", 4));
  expect_error(Checkpoint::open(folder_), ErrorCode::kUnsupported, "only pickled weights ('pytorch_model.bin')");
  put("config.json", "[1]");
  expect_error(Checkpoint::open(folder_), ErrorCode::kCorrupt, "config.json: expected an object, found array");
  put("config.json", "{\n\"a\":}");
  expect_error(Checkpoint::open(folder_), ErrorCode::kCorrupt, "config.json:2:5: ");
}

TEST_F(CheckpointTest, KnowsWhatWasSavedInPlaceOfTheFile) {
  put("config.json", "{}");
  for (const char* name : {"model.safetensors", "model.gguf", "config.json"}) {
    const bool is_gguf = name == std::string("model.gguf");
    const fs::path path = is_gguf ? folder_ / name : folder_;
    put(name, "");
    expect_error(Checkpoint::open(path), ErrorCode::kCorrupt,
                 std::string(name) + ": the file is empty; download it again");
    put(name, "\n<!DOCTYPE html><html><title>404</title>");
    expect_error(Checkpoint::open(path), ErrorCode::kCorrupt,
                 std::string(name) + ": a web page was saved in place of the file");
    put(name, "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n");
    expect_error(Checkpoint::open(path), ErrorCode::kCorrupt, std::string(name) + ": a Git LFS pointer");
  }
}

TEST_F(CheckpointTest, PickleIsRefusedByItsBytes) {
  for (const std::string& bytes :
       {std::string("PK\x03\x04zip"), std::string("\x80\x02}q\x00.", 6), std::string("\x80\x04\x95", 3)}) {
    put("model.pt", bytes);
    expect_error(Checkpoint::open(folder_ / "model.pt"), ErrorCode::kUnsupported, "a pickle file, which can run code");
  }
}

TEST_F(CheckpointTest, SplitGgufIsRefusedWithAdvice) {
  put("m.gguf", GgufWriter().add("split.count", uint16_t{3}).bytes());
  expect_error(Checkpoint::open(folder_ / "m.gguf"), ErrorCode::kUnsupported, "one of 3 files of a split model");
  put("m.gguf", GgufWriter().add("split.count", uint16_t{1}).bytes());
  EXPECT_TRUE(Checkpoint::open(folder_ / "m.gguf").has_value());
}

/// Every kind of file in the place of every other: a clean refusal, never the wrong reader's success.
TEST_F(CheckpointTest, ConfusionMatrix) {
  const std::vector<std::pair<std::string, std::string>> kKinds = {
      {"gguf", small_gguf()},
      {"safetensors", SafetensorsWriter().add("w", DType::kI8, {4}, "abcd").bytes()},
      {"json", R"({"a":1})"},
      {"png", "\x89PNG\r\n\x1a\n0000000000000000000000000"},
      {"zeros", std::string(4096, '\0')},
      {"ones", std::string(4096, '\xff')},
      {"text", "All happy families are alike; each unhappy family is unhappy in its own way."},
      {"old ggml", "tjgg" + std::string(100, '\1')},
  };
  for (const auto& [kind, contents] : kKinds) {
    SCOPED_TRACE(kind);
    put("file", contents);
    EXPECT_EQ(Checkpoint::open(folder_ / "file").has_value(), kind == "gguf");
    EXPECT_EQ(Checkpoint::open(folder_ / "file", kNoWeights).has_value(), kind == "gguf" || kind == "json");
    put("config.json", contents);
    put("model.safetensors", kKinds[1].second);
    EXPECT_EQ(Checkpoint::open(folder_).has_value(), kind == "json");
    put("config.json", "{}");
    put("model.safetensors", contents);
    EXPECT_EQ(Checkpoint::open(folder_).has_value(), kind == "safetensors");
    fs::remove(folder_ / "model.safetensors");
    put("model.safetensors.index.json", contents);
    EXPECT_FALSE(Checkpoint::open(folder_).has_value());
    fs::remove(folder_ / "model.safetensors.index.json");
  }
}

}  // namespace
}  // namespace vitro
