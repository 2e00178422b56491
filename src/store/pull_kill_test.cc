// kill -9 at any moment of a pull from the hub, 160 times (40 more, of a known model, are in pull_known_test.cc): what
// has its final name is then whole, a ref leads to all of the model, what waits is a beginning of the file, and the
// next pull goes on from it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "base/clock.h"
#include "store/pull.h"
#include "testing/hf_repo.h"
#include "testing/hub_server.h"

namespace vitro {
namespace {

using testing::contents_of;
using testing::HubServer;
using testing::TempFolder;
namespace fs = std::filesystem;

constexpr int kKills = 160;
constexpr const char* kRepo = "o/model";
constexpr const char* kConfig = "{\"model_type\": \"llama\"}";
/// The weights take about 50 ms at this rate and over two connections.
constexpr size_t kBytes = 2'500'000;
constexpr const char* kBehaviour = "id=kill,rate=24000000";
/// A slow machine comes to the end of a pull over several tries, and to the end of the test in time.
constexpr double kLongest = 0.15;

class PullKill : public ::testing::Test {
 protected:
  void SetUp() override {
    server_.add("o/model/config.json", kConfig);
    server_.add("o/model/model.safetensors", weights_);
    for (const char* name : {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_TOKEN", "HF_TOKEN_PATH"}) ::unsetenv(name);
    ::setenv("HF_ENDPOINT", server_.endpoint(kBehaviour).c_str(), 1);
    ::setenv("HF_HOME", folder_.path().c_str(), 1);
    HttpConnection connection({});
    const std::string url = server_.endpoint(kBehaviour) + "/o/model/resolve/main/model.safetensors";
    const auto remote = stat_remote(url, "", connection);
    ASSERT_TRUE(remote) << remote.error().message;
    commit_ = remote->commit;
    blob_ = cache_.blob(kRepo, remote->etag);
  }
  void TearDown() override {
    ::unsetenv("HF_ENDPOINT");
    ::unsetenv("HF_HOME");
  }

  Result<Pulled> pull(const PullEvents& events = {}) const {
    return pull_hub({.repo = kRepo}, {folder_.path() / "vitro", cache_}, events);
  }
  void forget() const { fs::remove_all(cache_.repo_folder(kRepo)); }
  /// So many bytes are here, and nothing else.
  void begin_with(size_t n_bytes) const {
    forget();
    fs::create_directories(blob_.incomplete.parent_path());
    std::ofstream(blob_.incomplete, std::ios::binary) << weights_.substr(0, n_bytes);
  }
  double seconds_of_a_pull() const {
    const double start_s = now_seconds();
    EXPECT_TRUE(pull());
    return std::min(kLongest, now_seconds() - start_s);
  }
  /// A pull in a process of its own, ended after so long; its status.
  int pull_and_kill(double after_s) const {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(pull() ? 0 : 1);
    std::this_thread::sleep_for(std::chrono::duration<double>(after_s));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }

  bool is_right(const fs::path& path, const std::string& contents) const {
    return !fs::exists(fs::symlink_status(path)) || contents_of(path) == contents;
  }
  /// What may be there after a kill, and how far that pull had come.
  std::string look() const {
    const fs::path snapshot = cache_.snapshot(kRepo, commit_), ref = cache_.ref(kRepo, "main");
    const std::string part = contents_of(blob_.incomplete);
    EXPECT_TRUE(weights_.starts_with(part)) << part.size() << " bytes, not of the file";
    EXPECT_TRUE(is_right(blob_.target, weights_));
    EXPECT_FALSE(fs::exists(blob_.target) && fs::exists(blob_.incomplete));  // it gets its name, no copy does
    EXPECT_TRUE(is_right(snapshot / "model.safetensors", weights_));
    EXPECT_TRUE(is_right(snapshot / "config.json", kConfig));
    EXPECT_TRUE(is_right(ref, commit_));
    if (fs::exists(ref)) {
      EXPECT_TRUE(fs::exists(snapshot / "model.safetensors") && fs::exists(snapshot / "config.json"));
      return "6 at its end";
    }
    if (fs::exists(snapshot / "model.safetensors")) return "5 before the ref";
    if (fs::exists(blob_.target)) return "4 before the link";
    if (part.size() == kBytes) return "3 all bytes are here: hash, disk, name";
    return part.empty() ? "1 before the first byte of the weights" : "2 weights are coming";
  }

  const std::string weights_ = testing::noise(kBytes);
  HubServer server_;
  TempFolder folder_;
  const HfCache cache_{folder_.path() / "hub"};
  std::string commit_;
  FetchPaths blob_;
};

TEST_F(PullKill, LeavesNothingHalfWritten) {
  const double whole_s = seconds_of_a_pull();
  begin_with(kBytes);
  const double end_s = seconds_of_a_pull();
  forget();
  std::mt19937 random(20260730);
  std::uniform_real_distribution<double> part(0, 1.2);
  std::map<std::string, int> moments;
  for (int i = 0; i < kKills; ++i) {
    // Every other pull has all bytes already, so that its steps after the last one are hit as often.
    const bool is_end = i % 2 == 1;
    if (is_end) begin_with(kBytes);
    const int status = pull_and_kill(part(random) * (is_end ? end_s : whole_s));
    ASSERT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    ++moments[(WIFSIGNALED(status) ? "killed " : "too late ") + look()];
    ASSERT_FALSE(HasFailure()) << "kill " << i;
    if (is_end || fs::exists(blob_.target)) forget();
  }
  for (const auto& [moment, n] : moments) std::printf("  %3d %s\n", n, moment.c_str());
  EXPECT_GT(moments["killed 2 weights are coming"], 0);
  EXPECT_GT(moments["killed 3 all bytes are here: hash, disk, name"], 0);
  EXPECT_GT(moments["killed 4 before the link"] + moments["killed 5 before the ref"] + moments["killed 6 at its end"],
            0);
}

TEST_F(PullKill, TheNextPullAsksForTheRest) {
  begin_with(1'000'000);
  const auto pulled = pull();
  ASSERT_TRUE(pulled) << pulled.error().message;
  EXPECT_EQ(contents_of(pulled->path / "model.safetensors"), weights_);
  size_t n_asked = 0;
  for (const auto& request : server_.log("kill")) {
    if (request.path.find("/store/") == std::string::npos) continue;
    EXPECT_EQ(request.range, "bytes=1000000-2499999");
    ++n_asked;
  }
  EXPECT_EQ(n_asked, 1U);
}

}  // namespace
}  // namespace vitro
