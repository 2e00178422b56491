// kill -9 at any moment of a download: the final name is then absent or holds the right bytes, what waits is a
// beginning of the file, and the next download goes on from it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "base/clock.h"
#include "store/fetch.h"
#include "testing/hub_server.h"

namespace vitro {
namespace {

using testing::HubServer;
using testing::TempFolder;
namespace fs = std::filesystem;

constexpr int kKills = 100;
constexpr size_t kBytes = 2'500'000;
/// A download takes about 50 ms at this rate and over four connections.
constexpr const char* kBehaviour = "rate=12000000";
const FetchOptions kOptions{.n_connections = 4};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A download in a process of its own, ended after so long; its status.
int fetch_and_kill(const RemoteFile& remote, const FetchPaths& paths, double after_s) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(fetch_file(remote, paths, kOptions) ? 0 : 1);
  std::this_thread::sleep_for(std::chrono::duration<double>(after_s));
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(FetchKill, LeavesNothingHalfWritten) {
  const HubServer server;
  const std::string bytes = testing::noise(kBytes);
  server.add("a/b/model.gguf", bytes);
  const TempFolder folder;
  const FetchPaths paths{folder.path() / "x", folder.path() / "x.incomplete", folder.path() / "x.lock"};
  const auto remote = stat_remote(server.endpoint(kBehaviour) + "/a/b/resolve/main/model.gguf", "", {});
  ASSERT_TRUE(remote) << remote.error().message;
  const double start_s = now_seconds();
  ASSERT_TRUE(fetch_file(*remote, paths, kOptions));
  const double whole_s = std::min(0.5, now_seconds() - start_s);  // a slow machine comes to the end over several tries
  fs::remove(paths.target);
  std::mt19937 random(20260730);
  std::uniform_real_distribution<double> after_s(0, 1.2 * whole_s);
  int n_killed = 0, n_whole = 0, n_resumable = 0;
  for (int i = 0; i < kKills; ++i) {
    const int status = fetch_and_kill(*remote, paths, after_s(random));
    ASSERT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    n_killed += WIFSIGNALED(status);
    const std::string part = read_file(paths.incomplete);
    ASSERT_TRUE(bytes.starts_with(part)) << "kill " << i << ": " << part.size() << " bytes, not of the file";
    n_resumable += !part.empty();
    if (!fs::exists(paths.target)) continue;
    ASSERT_TRUE(read_file(paths.target) == bytes) << "kill " << i;
    ASSERT_FALSE(fs::exists(paths.incomplete));
    ++n_whole;
    fs::remove(paths.target);
  }
  // The part that is left is not asked for again.
  std::ofstream(paths.incomplete, std::ios::binary) << bytes.substr(0, 1'000'000);
  uint64_t n_resumed = 0;
  const auto end =
      fetch_file(*remote, paths, {.on_progress = [&](const FetchProgress& p) { n_resumed = p.n_resumed; }});
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_TRUE(read_file(paths.target) == bytes);
  EXPECT_EQ(n_resumed, 1'000'000U);
  RecordProperty("killed", n_killed);
  RecordProperty("whole", n_whole);
  RecordProperty("resumable", n_resumable);
  // The moments were spread over the whole of it.
  EXPECT_GT(n_killed, 0);
  EXPECT_GT(n_resumable, 0);
  EXPECT_GT(n_whole, 0);
}

}  // namespace
}  // namespace vitro
