#include "store/hf_cache.h"

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <array>
#include <cstdlib>
#include <map>

#include "base/unique_fd.h"
#include "testing/expect_error.h"
#include "testing/hf_repo.h"
#include "testing/temp_folder.h"

namespace vitro {
namespace {
namespace fs = std::filesystem;

using testing::expect_error;
using testing::HfRepo;
using testing::kCommitA;
using testing::kCommitB;
using testing::TempFolder;

// Sets variables of the environment for a while.
class Environment {
 public:
  explicit Environment(const std::map<std::string, std::string>& values) {
    for (const char* name : {"HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME", "HOME", "PLACE"}) {
      const char* old = std::getenv(name);
      old_.emplace_back(name, old ? std::optional<std::string>(old) : std::nullopt);
      ::unsetenv(name);
    }
    for (const auto& [name, value] : values) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const auto& [name, value] : old_) value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  }

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> old_;
};

// What huggingface_hub/constants.py makes of the same variables.
TEST(HfCache, PlacesOfTheEnvironment) {
  const std::pair<std::map<std::string, std::string>, std::string> cases[] = {
      {{{"HOME", "/h"}}, "/h/.cache/huggingface/hub"},
      {{{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}}, "/x/huggingface/hub"},
      {{{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}, {"HF_HOME", "/hf"}}, "/hf/hub"},
      {{{"HOME", "/h"}, {"HF_HOME", "~/hf"}}, "/h/hf/hub"},
      {{{"HOME", "/h"}, {"PLACE", "/p"}, {"HF_HOME", "$PLACE/hf"}}, "/p/hf/hub"},
      {{{"HOME", "/h"}, {"PLACE", "p"}, {"HF_HOME", "/a/${PLACE}x/$NONE"}}, "/a/px/$NONE/hub"},
      {{{"HOME", "/h"}, {"HF_HOME", "/hf"}, {"HUGGINGFACE_HUB_CACHE", "/old"}}, "/old"},
      {{{"HOME", "/h"}, {"HUGGINGFACE_HUB_CACHE", "/old"}, {"HF_HUB_CACHE", "~/new"}}, "/h/new"},
  };
  for (const auto& [values, expected] : cases) {
    const Environment environment(values);
    EXPECT_EQ(HfCache::from_environment().root(), expected);
  }
}

TEST(HfCache, NamesOfFolders) {
  const HfCache cache("/c");
  EXPECT_EQ(cache.repo_folder("owner/name"), "/c/models--owner--name");
  EXPECT_EQ(cache.repo_folder("gpt2"), "/c/models--gpt2");
  EXPECT_EQ(cache.blob("o/n", "abc").target, "/c/models--o--n/blobs/abc");
  EXPECT_EQ(cache.blob("o/n", "abc").incomplete, "/c/models--o--n/blobs/abc.incomplete");
  EXPECT_EQ(cache.blob("o/n", "abc").lock, "/c/.locks/models--o--n/abc.lock");
  EXPECT_EQ(cache.ref("o/n", "refs/pr/1"), "/c/models--o--n/refs/refs/pr/1");
}

TEST(HfCache, ReadsWhatTheOthersWrote) {
  const TempFolder folder;
  const HfCache cache(folder.path());
  const HfRepo repo(folder.path(), "models--o--n");
  repo.add(kCommitA, "config.json", "{}").add(kCommitA, "sub/x.txt", "x").ref("main", kCommitA + "\n");
  testing::write_file(repo.pointer(kCommitA, "no-link.txt"), "where links cannot be made");
  fs::create_directories(folder.path() / "datasets--o--d");
  fs::create_directories(folder.path() / "models--..--n");
  EXPECT_EQ(cache.repos(), std::vector<std::string>{"o/n"});
  EXPECT_EQ(cache.commits("o/n"), std::vector<std::string>{kCommitA});
  EXPECT_EQ(cache.commit_of("o/n", "main").value(), kCommitA);
  EXPECT_EQ(cache.commit_of("o/n", kCommitB).value(), kCommitB);
  EXPECT_EQ(cache.commit_of("o/n", "other").value(), std::nullopt);
  EXPECT_EQ(cache.commit_of("o/none", "main").value(), std::nullopt);
  EXPECT_EQ(cache.files("o/n", kCommitA).value(),
            (std::vector<std::string>{"config.json", "no-link.txt", "sub/x.txt"}));
  EXPECT_EQ(cache.files("o/n", kCommitB).value(), std::vector<std::string>{});
}

TEST(HfCache, WritesTheLayout) {
  const TempFolder folder;
  const HfCache cache(folder.path() / "hub");
  ASSERT_TRUE(cache.prepare("o/n", kCommitA).has_value());
  testing::write_file(cache.blob("o/n", "e1").target, "{}");
  testing::write_file(cache.blob("o/n", "e2").target, "2");
  ASSERT_TRUE(cache.link("o/n", kCommitA, "config.json", "e1").has_value());
  ASSERT_TRUE(cache.link("o/n", kCommitA, "a/b/c.txt", "e1").has_value());
  ASSERT_TRUE(cache.write_ref("o/n", "refs/pr/1", kCommitA).has_value());
  const fs::path repo = folder.path() / "hub/models--o--n";
  EXPECT_EQ(fs::read_symlink(repo / "snapshots" / kCommitA / "config.json"), "../../blobs/e1");
  EXPECT_EQ(fs::read_symlink(repo / "snapshots" / kCommitA / "a/b/c.txt"), "../../../../blobs/e1");
  EXPECT_EQ(testing::contents_of(repo / "refs/refs/pr/1"), kCommitA);  // no line end: huggingface_hub takes all of it
  ASSERT_TRUE(cache.link("o/n", kCommitA, "config.json", "e2").has_value());
  EXPECT_EQ(testing::contents_of(repo / "snapshots" / kCommitA / "config.json"), "2");
  ASSERT_TRUE(cache.write_ref("o/n", "refs/pr/1", kCommitB).has_value());
  EXPECT_EQ(testing::contents_of(repo / "refs/refs/pr/1"), kCommitB);
  EXPECT_EQ(std::distance(fs::directory_iterator(repo / "blobs"), {}), 2);  // no spare link is left
  EXPECT_TRUE(testing::contents_of(folder.path() / "hub/CACHEDIR.TAG")
                  .starts_with("Signature: 8a477f597d28d172789f06886806bc55"));
}

TEST(HfCache, ASlashAtTheEndIsNoFolder) {
  const TempFolder folder;
  const HfCache cache(folder.path() / "not/there/");
  const Status status = cache.prepare("o/n", kCommitA);
  EXPECT_TRUE(status.has_value()) << status.error().message;
  EXPECT_EQ(cache.root(), folder.path() / "not/there");
}

// Names that were made in a folder since it is watched.
std::vector<std::string> made_names(int inotify) {
  alignas(inotify_event) std::array<char, 4096> events{};
  const ssize_t n_bytes = ::read(inotify, events.data(), events.size());
  std::vector<std::string> out;
  for (ssize_t at = 0; at < n_bytes;) {
    const auto* event = reinterpret_cast<const inotify_event*>(events.data() + at);
    out.emplace_back(event->name);
    at += static_cast<ssize_t>(sizeof *event + event->len);
  }
  return out;
}

// scan_cache_dir takes every file below refs for a ref: one killed at any moment may leave none but those.
TEST(HfCache, NoOtherNameIsEverAmongTheRefs) {
  const TempFolder folder;
  const HfCache cache(folder.path());
  const HfRepo repo(folder.path(), "models--o--n");
  const UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  ASSERT_GE(::inotify_add_watch(inotify.get(), (repo.folder() / "refs").c_str(), IN_CREATE | IN_MOVED_TO), 0);
  ASSERT_TRUE(cache.write_ref("o/n", "main", kCommitA).has_value());
  EXPECT_EQ(made_names(inotify.get()), std::vector<std::string>{"main"});
  EXPECT_TRUE(fs::is_empty(repo.folder() / "blobs"));
}

TEST(HfCache, LinksThatLeadElsewhereAreRefused) {
  const TempFolder folder, elsewhere;
  testing::write_file(elsewhere.path() / "secret", "s");
  const HfCache cache(folder.path());
  const HfRepo repo(folder.path(), "models--o--n");
  struct Case {
    const char* file;
    fs::path target;
    const char* words;
  };
  const Case cases[] = {
      {"circle", "circle", "links in a circle"},
      {"nowhere", "../../blobs/none", "leads nowhere"},
      {"out", elsewhere.path() / "secret", "leads out of the cache"},
      {"up", "../../../../" + elsewhere.path().filename().string() + "/secret", "leads out of the cache"},
      {"folder", "../../blobs", "is no regular file"}};
  for (const Case& c : cases) {
    repo.link(kCommitA, c.file, c.target);
    expect_error(cache.follow(repo.pointer(kCommitA, c.file)), ErrorCode::kCorrupt, c.words);
    expect_error(cache.files("o/n", kCommitA), ErrorCode::kCorrupt, c.words);
    fs::remove(repo.pointer(kCommitA, c.file));
  }
  fs::create_symlink("b", repo.pointer(kCommitA, "a"));
  fs::create_symlink("a", repo.pointer(kCommitA, "b"));
  expect_error(cache.files("o/n", kCommitA), ErrorCode::kCorrupt, "links in a circle");
}

TEST(HfCache, NothingIsWrittenThroughALinkThatLeadsOut) {
  const TempFolder folder, elsewhere;
  const HfCache cache(folder.path());
  const HfRepo repo(folder.path(), "models--o--n");
  testing::write_file(elsewhere.path() / "mine", "mine");
  fs::create_symlink(elsewhere.path() / "mine", folder.path() / "models--o--n/refs/main");
  expect_error(cache.write_ref("o/n", "main", kCommitA), ErrorCode::kCorrupt, "leads out of the cache");
  EXPECT_EQ(testing::contents_of(elsewhere.path() / "mine"), "mine");
  fs::create_directory_symlink(elsewhere.path(), folder.path() / "models--o--m");
  expect_error(cache.prepare("o/m", kCommitA), ErrorCode::kCorrupt, "leads out of the cache");
  expect_error(cache.link("o/m", kCommitA, "f", "e"), ErrorCode::kCorrupt, "leads out of the cache");
  EXPECT_EQ(std::distance(fs::directory_iterator(elsewhere.path()), {}), 1);
}

TEST(HfCache, BadRefs) {
  const TempFolder folder;
  const HfCache cache(folder.path());
  const HfRepo repo(folder.path(), "models--o--n");
  for (const std::string& text : {std::string(), std::string("main"), std::string(41, 'a'), "../" + kCommitA}) {
    repo.ref("main", text);
    expect_error(cache.commit_of("o/n", "main"), ErrorCode::kCorrupt, "expected a commit");
  }
}

TEST(HfCache, NoPermission) {
  if (::geteuid() == 0) {
    // root may write anywhere: a file in a folder's place is refused to it as well
    const TempFolder folder;
    testing::write_file(folder.path() / "models--o--n", "a file");
    expect_error(HfCache(folder.path()).prepare("o/n", kCommitA), ErrorCode::kIoError, "cannot make this folder");
    return;
  }
  const TempFolder folder;
  ::chmod(folder.path().c_str(), 0500);
  expect_error(HfCache(folder.path() / "hub").prepare("o/n", kCommitA), ErrorCode::kIoError, "cannot make this folder");
}

}  // namespace
}  // namespace vitro
