// What is here, how a MODEL finds it, and how it goes: over caches laid out by hand.
#include "store/stored_models.h"

#include <gtest/gtest.h>

#include "store/file_lock.h"
#include "store/removal.h"
#include "store/resolve.h"
#include "store/vitro_cache.h"
#include "testing/expect_error.h"
#include "testing/hf_repo.h"
#include "testing/safetensors_writer.h"
#include "testing/temp_folder.h"

namespace vitro {
namespace {
namespace fs = std::filesystem;

using testing::expect_error;
using testing::GgufWriter;
using testing::HfRepo;
using testing::kCommitA;
using testing::kCommitB;
using testing::SafetensorsWriter;
using testing::TempFolder;

const std::string kWeights = SafetensorsWriter().add("w", DType::kBF16, {64}, std::string(128, '\0')).bytes();

std::string gguf(const std::string& license) {
  GgufWriter writer;
  writer.add("general.architecture", "llama").add("general.license", license);
  writer.add_tensor("a", DType::kF32, {4}, std::string(16, '\0'))
      .add_tensor("b", DType::kQ4_1, {4, 32}, std::string(80, '\0'));
  return writer.bytes();
}

class StoredModelsTest : public ::testing::Test {
 protected:
  const StoredModel* find(const std::string& name) {
    models_ = list_models(caches_);
    for (const StoredModel& model : models_.models) {
      if (model.name == name) return &model;
    }
    return nullptr;
  }
  std::string problem_of(const std::string& name) {
    const StoredModel* model = find(name);
    return model ? model->problem : "not listed";
  }
  // The path that a MODEL leads to, below the folder; "" if it is not here.
  std::string path_of(const std::string& text, bool needs_weights = true) {
    const auto resolved = resolve_model(text, needs_weights, caches_);
    if (!resolved) return "error: " + resolved.error().message;
    return resolved->path.empty() ? "" : resolved->path.lexically_relative(folder_.path()).string();
  }
  Result<Removal> plan(const std::string& text) {
    const auto name = find_name(text, caches_);
    return name ? plan_removal(*name, caches_) : fail(name.error());
  }
  void remove(const std::string& text) {
    const auto removal = plan(text);
    ASSERT_TRUE(removal.has_value()) << removal.error().message;
    const Status status = remove_paths(*removal);
    ASSERT_TRUE(status.has_value()) << status.error().message;
  }
  // All files and links below the folder, "a b".
  std::string all() {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path() / "hub")) {
      if (!entry.is_directory() || entry.is_symlink())
        names.push_back(entry.path().lexically_relative(folder_.path() / "hub").string());
    }
    std::sort(names.begin(), names.end());
    std::string out;
    for (const std::string& name : names) out += name + "\n";
    return out;
  }

  TempFolder folder_;
  Caches caches_{folder_.path() / "vitro", HfCache(folder_.path() / "hub")};
  StoredModels models_;
};

TEST_F(StoredModelsTest, NothingIsHere) {
  EXPECT_TRUE(list_models(caches_).models.empty());
  EXPECT_EQ(path_of("smollm2"), "");
  EXPECT_EQ(path_of("o/n"), "");
  expect_error(plan("o/n"), ErrorCode::kNotFound, "not here");
  expect_error(plan("smollm2"), ErrorCode::kNotFound, "not here");
}

TEST_F(StoredModelsTest, ListsFoldersWithTypeSizeAndLicence) {
  HfRepo(caches_.hf.root(), "models--o--n")
      .add(kCommitA, "config.json", "{}")
      .add(kCommitA, "model.safetensors", kWeights)
      .add(kCommitA, "README.md", "---\nlicense: mit\n---\n")
      .ref("main", kCommitA);
  const StoredModel* model = find("o/n");
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->problem, "");
  EXPECT_EQ(model->type, "safetensors BF16");
  EXPECT_EQ(model->license, "mit");
  EXPECT_EQ(model->n_bytes, 2 + kWeights.size() + 21);
  EXPECT_EQ(model->commit, kCommitA);
  EXPECT_EQ(model->path, caches_.hf.root() / "models--o--n/snapshots" / kCommitA);
  EXPECT_EQ(path_of("o/n"), "hub/models--o--n/snapshots/" + kCommitA);
  EXPECT_EQ(path_of("o/n@main"), "hub/models--o--n/snapshots/" + kCommitA);
  EXPECT_EQ(path_of("o/n@" + kCommitA), "hub/models--o--n/snapshots/" + kCommitA);
  EXPECT_EQ(path_of("o/n@" + kCommitB), "");
  EXPECT_EQ(path_of("o/n@v2"), "");
}

// A terabyte in place of what is small: no more of it is read than the beginning.
TEST_F(StoredModelsTest, ReadsNoMoreThanItNeeds) {
  const HfRepo repo(caches_.hf.root(), "models--o--n");
  const std::string card = "---\nlicense: mit\n---\n";
  repo.add(kCommitA, "config.json", "{}").add(kCommitA, "model.safetensors", kWeights);
  repo.add(kCommitA, "README.md", card).ref("main", kCommitA);
  fs::resize_file(repo.blob(card), uint64_t{1} << 40);
  ASSERT_NE(find("o/n"), nullptr);
  EXPECT_EQ(find("o/n")->license, "mit");
  fs::resize_file(repo.folder() / "refs/main", uint64_t{1} << 40);
  expect_error(resolve_model("o/n", true, caches_), ErrorCode::kCorrupt, "refs/main: expected a commit");
}

TEST_F(StoredModelsTest, TheModelInTheProgramIsInNoCache) {
  expect_error(find_name("embedded", caches_), ErrorCode::kInvalidArgument, "embedded: is part of this program");
  expect_error(find_name("embeded", caches_), ErrorCode::kNotFound, "did you mean embedded?");
  EXPECT_EQ(resolve_model("embedded", true, caches_)->path, "embedded");
}

TEST_F(StoredModelsTest, ListsGgufFiles) {
  const HfRepo repo(caches_.hf.root(), "models--o--n");
  repo.add(kCommitA, "m-Q4_1.gguf", gguf("apache-2.0")).ref("main", kCommitA);
  const StoredModel* model = find("o/n");
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->type, "GGUF Q4_1 F32");
  EXPECT_EQ(model->license, "apache-2.0");
  EXPECT_EQ(path_of("o/n"), "hub/models--o--n/snapshots/" + kCommitA + "/m-Q4_1.gguf");
  repo.add(kCommitA, "sub/m-Q8_0.gguf", gguf("mit"));
  EXPECT_EQ(find("o/n"), nullptr);
  EXPECT_NE(find("o/n:sub/m-Q8_0.gguf"), nullptr);
  EXPECT_EQ(path_of("o/n:q8_0"), "hub/models--o--n/snapshots/" + kCommitA + "/sub/m-Q8_0.gguf");
  EXPECT_EQ(path_of("o/n:m-Q4_1.gguf"), "hub/models--o--n/snapshots/" + kCommitA + "/m-Q4_1.gguf");
  EXPECT_EQ(path_of("o/n:Q6_K"), "");
  EXPECT_NE(path_of("o/n").find("which of its files? 'm-Q4_1.gguf', 'sub/m-Q8_0.gguf'"), std::string::npos)
      << path_of("o/n");
}

TEST_F(StoredModelsTest, ChoosesAmongGgufFilesAsThePullDid) {
  const HfRepo repo(caches_.hf.root(), "models--o--n");
  repo.add(kCommitA, "m-Q4_0.gguf", gguf("mit")).add(kCommitA, "mmproj-f16.gguf", "projector").ref("main", kCommitA);
  const std::string snapshot = "hub/models--o--n/snapshots/" + kCommitA + "/";
  EXPECT_EQ(path_of("o/n"), snapshot + "m-Q4_0.gguf");
  repo.add(kCommitA, "m-Q4_0_4_4.gguf", gguf("x"));
  EXPECT_EQ(path_of("o/n:Q4_0"), snapshot + "m-Q4_0.gguf");
  EXPECT_EQ(path_of("o/n:4_4"), snapshot + "m-Q4_0_4_4.gguf");
  repo.add(kCommitA, "f16/m-00001-of-00002.gguf", gguf("y")).add(kCommitA, "f16/m-00002-of-00002.gguf", gguf("z"));
  EXPECT_EQ(path_of("o/n:F16"), snapshot + "f16/m-00001-of-00002.gguf");  // opening it says that it is split
}

TEST_F(StoredModelsTest, BlobsOfTwoRevisionsCountOnce) {
  const HfRepo repo(caches_.hf.root(), "models--o--n");
  for (const std::string& commit : {kCommitA, kCommitB}) {
    repo.add(commit, "config.json", "{}").add(commit, "model.safetensors", kWeights);
  }
  repo.ref("main", kCommitB);
  ASSERT_NE(find("o/n"), nullptr);
  ASSERT_NE(find("o/n@" + kCommitA), nullptr);
  EXPECT_EQ(find("o/n")->n_bytes, 2 + kWeights.size());
  EXPECT_EQ(models_.n_bytes, 2 + kWeights.size());
}

TEST_F(StoredModelsTest, HalfAModelIsNone) {
  const HfRepo repo(caches_.hf.root(), "models--o--n");
  repo.add(kCommitA, "config.json", "{}").add(kCommitA, "tokenizer.json", "{ }").ref("main", kCommitA);
  EXPECT_NE(problem_of("o/n").find("no whole weights; 'vitro pull o/n' gets them"), std::string::npos);
  EXPECT_EQ(path_of("o/n"), "");
  EXPECT_EQ(path_of("o/n", false), "hub/models--o--n/snapshots/" + kCommitA);  // for its tokenizer
  repo.add(kCommitA, "model.safetensors.index.json",
           R"({"weight_map":{"w":"model-00001-of-00002.safetensors","x":"model-00002-of-00002.safetensors"}})");
  repo.add(kCommitA, "model-00001-of-00002.safetensors", kWeights);
  EXPECT_EQ(path_of("o/n"), "");
  repo.add(kCommitA, "model-00002-of-00002.safetensors", kWeights);
  EXPECT_EQ(path_of("o/n"), "hub/models--o--n/snapshots/" + kCommitA);
}

TEST_F(StoredModelsTest, UnfinishedAndBrokenOnesAreListedAsSuch) {
  const HfRepo unfinished(caches_.hf.root(), "models--o--unfinished");
  testing::write_file(unfinished.folder() / "blobs/abc.incomplete", "half");
  const HfRepo circle(caches_.hf.root(), "models--o--circle");
  circle.link(kCommitA, "config.json", "config.json");
  circle.ref("main", kCommitA);
  const HfRepo page(caches_.hf.root(), "models--o--page");
  page.add(kCommitA, "config.json", "{}")
      .add(kCommitA, "model.safetensors", "<!DOCTYPE html><html></html>")
      .ref("main", kCommitA);
  const HfRepo round(caches_.hf.root(), "models--o--round");
  fs::remove(round.folder() / "blobs");
  fs::create_symlink("blobs", round.folder() / "blobs");
  EXPECT_NE(problem_of("o/round").find("blobs: links in a circle"), std::string::npos) << problem_of("o/round");
  ASSERT_NE(find("o/unfinished"), nullptr);
  EXPECT_EQ(find("o/unfinished")->n_bytes, 4U);
  EXPECT_NE(problem_of("o/unfinished").find("not finished"), std::string::npos);
  EXPECT_NE(problem_of("o/circle").find("links in a circle"), std::string::npos) << problem_of("o/circle");
  EXPECT_NE(problem_of("o/page").find("web page"), std::string::npos) << problem_of("o/page");
  EXPECT_NE(path_of("o/circle").find("links in a circle"), std::string::npos);
}

TEST_F(StoredModelsTest, PathsWin) {
  const fs::path old = fs::current_path();
  fs::current_path(folder_.path());
  fs::create_directories("o/n");
  fs::create_directories("smollm2");
  const auto path = resolve_model("o/n", true, caches_), known = resolve_model("smollm2", true, caches_);
  const auto absent = resolve_model("a/b/c", true, caches_), file = resolve_model("a/b.gguf", true, caches_);
  fs::current_path(old);
  EXPECT_EQ(path->path, "o/n");
  EXPECT_EQ(known->path, "smollm2");
  EXPECT_EQ(absent->path, "a/b/c");  // no name: opening it says that it is not there
  EXPECT_EQ(file->path, "a/b.gguf");
  for (const char* text : {"./x", "/x", "~/x", "../x", "x/"}) EXPECT_EQ(resolve_model(text, true, caches_)->path, text);
}

TEST_F(StoredModelsTest, WordsOfferWhatIsHere) {
  HfRepo(caches_.hf.root(), "models--openai-community--gpt2").add(kCommitA, "config.json", "{}").ref("main", kCommitA);
  expect_error(resolve_model("gpt2", true, caches_), ErrorCode::kNotFound, "did you mean openai-community/gpt2?");
  HfRepo(caches_.hf.root(), "models--gpt2")
      .add(kCommitA, "config.json", "{}")
      .add(kCommitA, "model.safetensors", kWeights)
      .ref("main", kCommitA);
  EXPECT_EQ(path_of("gpt2"), "hub/models--gpt2/snapshots/" + kCommitA);
}

TEST_F(StoredModelsTest, RemovesARepositoryAndNothingElse) {
  const HfRepo repo(caches_.hf.root(), "models--o--n");
  repo.add(kCommitA, "config.json", "{}")
      .add(kCommitB, "config.json", "{ }")
      .ref("main", kCommitA)
      .ref("refs/pr/1", kCommitB);
  fs::create_directories(caches_.hf.root() / ".locks/models--o--n");
  testing::write_file(caches_.hf.root() / ".locks/models--o--n/e.lock", "");
  const HfRepo other(caches_.hf.root(), "models--o--other");
  other.add(kCommitA, "config.json", "{}").ref("main", kCommitA);
  const TempFolder elsewhere;
  testing::write_file(elsewhere.path() / "mine", "mine");
  repo.link(kCommitA, "out", elsewhere.path() / "mine");
  fs::create_directory_symlink(elsewhere.path(), repo.pointer(kCommitA, "folder"));
  remove("o/n");
  EXPECT_FALSE(fs::exists(repo.folder()));
  EXPECT_TRUE(fs::exists(caches_.hf.root() / ".locks/models--o--n/e.lock"));  // somebody may wait for it
  EXPECT_TRUE(fs::exists(elsewhere.path() / "mine"));
  EXPECT_TRUE(fs::exists(other.pointer(kCommitA, "config.json")));
}

TEST_F(StoredModelsTest, RemovesARevisionAndKeepsSharedBlobs) {
  const HfRepo repo(caches_.hf.root(), "models--o--n");
  repo.add(kCommitA, "config.json", "{}").add(kCommitA, "old.txt", "old").ref("main", kCommitB).ref("v1", kCommitA);
  repo.add(kCommitB, "config.json", "{}").add(kCommitB, "new.txt", "new");
  fs::create_directories(repo.folder() / ".no_exist" / kCommitA);
  testing::write_file(repo.folder() / ".no_exist" / kCommitA / "added_tokens.json", "");
  const auto removal = plan("o/n@v1");
  ASSERT_TRUE(removal.has_value()) << removal.error().message;
  EXPECT_EQ(removal->n_freed_bytes, 3U + 40U);  // "old", and the ref
  remove("o/n@v1");
  EXPECT_EQ(caches_.hf.commits("o/n"), std::vector<std::string>{kCommitB});
  EXPECT_FALSE(fs::exists(repo.blob("old")));
  EXPECT_FALSE(fs::exists(repo.folder() / "refs/v1"));
  EXPECT_FALSE(fs::exists(repo.folder() / ".no_exist" / kCommitA));
  EXPECT_EQ(testing::contents_of(repo.pointer(kCommitB, "config.json")), "{}");
  EXPECT_EQ(testing::contents_of(repo.pointer(kCommitB, "new.txt")), "new");
  expect_error(plan("o/n@v1"), ErrorCode::kNotFound, "not here");
  remove("o/n@" + kCommitB);
  EXPECT_EQ(all(), "");
}

TEST_F(StoredModelsTest, ARevisionThatIsSaidIsTheOnlyOneToGo) {
  const HfRepo repo(caches_.hf.root(), "models--o--n");
  repo.add(kCommitA, "old.txt", "old").add(kCommitB, "new.txt", "new").ref("main", kCommitB).ref("v1", kCommitA);
  remove("o/n@main");
  EXPECT_EQ(caches_.hf.commits("o/n"), std::vector<std::string>{kCommitA});
  EXPECT_EQ(testing::contents_of(repo.pointer(kCommitA, "old.txt")), "old");
  EXPECT_FALSE(fs::exists(repo.blob("new")));
}

TEST_F(StoredModelsTest, RemovesAFile) {
  const HfRepo repo(caches_.hf.root(), "models--o--n");
  repo.add(kCommitA, "a.gguf", gguf("mit"))
      .add(kCommitA, "b.gguf", gguf("x"))
      .add(kCommitA, "twin.gguf", gguf("x"))
      .ref("main", kCommitA);
  remove("o/n:a.gguf");
  EXPECT_FALSE(fs::exists(repo.blob(gguf("mit"))));
  remove("o/n:b.gguf");
  EXPECT_TRUE(fs::exists(repo.pointer(kCommitA, "twin.gguf")));  // its blob is another file's, too
  testing::write_file(repo.folder() / "blobs/0123456789abcdef.incomplete", "of a pull that was killed");
  remove("o/n:twin.gguf");
  EXPECT_EQ(all(), "");  // neither an empty snapshot nor its ref
}

TEST_F(StoredModelsTest, RemovesNothingThatIsBeingDownloaded) {
  const HfRepo repo(caches_.hf.root(), "models--o--n");
  repo.add(kCommitA, "config.json", "{}").ref("main", kCommitA);
  testing::write_file(repo.folder() / "blobs/e.incomplete", "half");
  fs::create_directories(caches_.hf.lock_folder("o/n"));
  const auto removal = plan("o/n");
  ASSERT_TRUE(removal.has_value());
  EXPECT_EQ(removal->top, repo.folder());
  {
    const auto lock = FileLock::acquire(caches_.hf.lock_folder("o/n") / "e.lock", {}, {});
    ASSERT_TRUE(lock.has_value());
    expect_error(remove_paths(*removal), ErrorCode::kIoError, "e.lock: another process");
    EXPECT_EQ(path_of("o/n", false), "hub/models--o--n/snapshots/" + kCommitA);
  }
  remove("o/n");
  EXPECT_FALSE(fs::exists(repo.folder()));
}

TEST_F(StoredModelsTest, RemovesNothingThroughLinks) {
  const TempFolder elsewhere;
  const HfRepo mine(elsewhere.path(), "models--o--n");
  mine.add(kCommitA, "config.json", "{}").add(kCommitB, "config.json", "{}").ref("main", kCommitA);
  fs::create_directories(caches_.hf.root());
  fs::create_directory_symlink(mine.folder(), caches_.hf.root() / "models--o--n");
  for (const char* name : {"o/n", "o/n@main:config.json"}) {
    EXPECT_FALSE(plan(name).has_value()) << name;
  }
  expect_error(plan("o/n"), ErrorCode::kInvalidArgument, "models--o--n: is a link");
  fs::remove(caches_.hf.root() / "models--o--n");
  const HfRepo inner(caches_.hf.root(), "models--o--n");
  inner.ref("main", kCommitA);
  fs::remove(inner.folder() / "snapshots");
  fs::create_directory_symlink(mine.folder() / "snapshots", inner.folder() / "snapshots");
  expect_error(plan("o/n@" + kCommitA), ErrorCode::kInvalidArgument, "models--o--n/snapshots: is a link");
  EXPECT_TRUE(fs::exists(mine.pointer(kCommitA, "config.json")));
}

TEST_F(StoredModelsTest, RemovesNothingThroughLinksInsideTheCache) {
  const HfRepo other(caches_.hf.root(), "models--o--m");
  other.add(kCommitA, "a.gguf", gguf("a")).add(kCommitB, "b.gguf", gguf("b")).ref("main", kCommitA);
  fs::create_directory_symlink("models--o--m", caches_.hf.root() / "models--o--n");
  for (const std::string& name : {std::string("o/n"), "o/n@" + kCommitA, std::string("o/n@main:a.gguf")}) {
    expect_error(plan(name), ErrorCode::kInvalidArgument, "models--o--n: is a link");
  }
  fs::remove(caches_.hf.root() / "models--o--n");
  for (const std::string part : {"snapshots", "blobs"}) {
    const HfRepo inner(caches_.hf.root(), "models--o--n");
    inner.add(kCommitA, "a.gguf", gguf("a")).add(kCommitB, "b.gguf", gguf("b"));
    fs::remove_all(inner.folder() / part);
    fs::create_directory_symlink(other.folder() / part, inner.folder() / part);
    for (const std::string& name : {"o/n@" + kCommitA, "o/n@" + kCommitA + ":a.gguf"}) {
      expect_error(plan(name), ErrorCode::kInvalidArgument, "models--o--n/" + part + ": is a link");
    }
    remove("o/n");  // the link itself
    EXPECT_FALSE(fs::exists(inner.folder()));
  }
  EXPECT_EQ(testing::contents_of(other.pointer(kCommitA, "a.gguf")), gguf("a"));
}

}  // namespace
}  // namespace vitro
