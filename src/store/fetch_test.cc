// Downloads against a server that misbehaves as hub_server.py's words say: whatever happens, the final name is absent
// or holds the right bytes.
#include "store/fetch.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/clock.h"
#include "store/file_lock.h"
#include "testing/expect_error.h"
#include "testing/hub_server.h"

namespace vitro {
namespace {

using testing::expect_error;
using testing::HubServer;
using testing::TempFolder;
namespace fs = std::filesystem;

constexpr size_t kLarge = 5'000'003;  // no multiple of anything

HubServer& server() {
  static HubServer instance;
  return instance;
}

const std::string& large() {
  static const std::string bytes = testing::noise(kLarge);
  return bytes;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class FetchTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    server().add("a/b/large.bin", large());
    server().add("a/b/config.json", "{\"a\": 1}");
    server().add("a/b/empty.txt", "");
    server().add("a/b/page.html", "<html></html>");
  }

  /// Metadata and download, as a puller does both.
  Result<Fetched> fetch(const std::string& behaviour, const std::string& file = "large.bin") {
    VITRO_TRY_ASSIGN(const RemoteFile remote, stat(behaviour, file));
    return fetch_file(remote, paths_, options_);
  }
  Result<RemoteFile> stat(const std::string& behaviour, const std::string& file = "large.bin") {
    HttpConnection connection(options_.http);
    return stat_remote(server().endpoint(behaviour) + "/a/b/resolve/main/" + file, options_.token, connection);
  }

  void expect_nothing_final() const { EXPECT_FALSE(fs::exists(fs::symlink_status(paths_.target))); }
  void expect_whole() const {
    EXPECT_EQ(read_file(paths_.target) == large(), true) << fs::file_size(paths_.target);
    EXPECT_FALSE(fs::exists(paths_.incomplete));
  }
  /// What waits for the next try is a beginning of the file.
  size_t expect_prefix() const {
    const std::string part = read_file(paths_.incomplete);
    EXPECT_LE(part.size(), large().size());
    EXPECT_TRUE(large().starts_with(part));
    return part.size();
  }

  TempFolder folder_;
  FetchPaths paths_{folder_.path() / "blobs/x", folder_.path() / "blobs/x.incomplete", folder_.path() / "locks/x.lock"};
  std::vector<std::string> notices_;
  std::vector<FetchProgress> progress_;
  FetchOptions options_{.token = "hf_secret",
                        .n_connections = 4,
                        .http = {.connect_s = 5, .stall_s = 5, .n_tries = 4, .first_wait_s = 0.01},
                        .on_progress = [this](const FetchProgress& p) { progress_.push_back(p); },
                        .on_notice = [this](const std::string& sentence) { notices_.push_back(sentence); }};
};

TEST_F(FetchTest, ReadsMetadataOfStoredFiles) {
  const auto file = stat("id=meta");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->n_bytes, kLarge);
  EXPECT_EQ(file->hash_kind, HashKind::kSha256);
  EXPECT_EQ(file->etag, file->hash);
  EXPECT_EQ(file->commit, "0123456789abcdef0123456789abcdef01234567");
  EXPECT_NE(file->location.find("http://localhost:"), std::string::npos);
  const auto log = server().log("meta");
  ASSERT_EQ(log.size(), 1U);  // the store was not asked
  EXPECT_EQ(log[0].method, "HEAD");
}

TEST_F(FetchTest, ReadsMetadataOfSmallFiles) {
  const auto file = stat("", "config.json");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->n_bytes, 8U);
  EXPECT_EQ(file->hash_kind, HashKind::kGitSha1);
  EXPECT_EQ(file->hash, "4a036f56bb619924ec4189bd84ed716c766971ae");  // git hash-object
}

TEST_F(FetchTest, FollowsAMirrorWithoutTheToken) {
  for (const char* name : {"config.json", "large.bin"}) {
    const auto file = stat(std::string("mirror=1,id=mirror-") + name, name);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_NE(file->hash_kind, HashKind::kNone);
    EXPECT_EQ(file->commit, "0123456789abcdef0123456789abcdef01234567");
    const auto log = server().log(std::string("mirror-") + name);
    ASSERT_EQ(log.size(), 2U);
    EXPECT_EQ(log[0].token, "Bearer hf_secret");
    EXPECT_EQ(log[1].host, "localhost");
    EXPECT_EQ(log[1].token, "");
  }
}

TEST_F(FetchTest, TakesRangesOverSeveralConnections) {
  const auto fetched = fetch("id=ranges");
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_EQ(*fetched, Fetched::kNow);
  expect_whole();
  size_t n_ranges = 0;
  for (const auto& request : server().log("ranges")) {
    EXPECT_EQ(request.token, request.host == "localhost" ? "" : "Bearer hf_secret");
    n_ranges += request.status == "206";
  }
  EXPECT_GE(n_ranges, 4U);
  ASSERT_FALSE(progress_.empty());
  EXPECT_EQ(progress_.front().n_done, 0U);
  EXPECT_EQ(progress_.back().n_done, kLarge);
  EXPECT_EQ(progress_.back().n_total, kLarge);
  EXPECT_TRUE(notices_.empty());
  EXPECT_EQ(fs::status(paths_.target).permissions() & fs::perms::owner_write, fs::perms::owner_write);
}

TEST_F(FetchTest, TakesSmallAndEmptyFiles) {
  ASSERT_TRUE(fetch("", "config.json"));
  EXPECT_EQ(read_file(paths_.target), "{\"a\": 1}");
  paths_.target = folder_.path() / "empty";
  ASSERT_TRUE(fetch("", "empty.txt"));
  EXPECT_TRUE(fs::is_regular_file(paths_.target));
  EXPECT_EQ(fs::file_size(paths_.target), 0U);
}

TEST_F(FetchTest, LeavesAloneWhatIsThere) {
  ASSERT_TRUE(fetch(""));
  const auto again = fetch("id=again");
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, Fetched::kAlreadyThere);
  EXPECT_EQ(server().log("again").size(), 1U);
}

TEST_F(FetchTest, GoesOnAfterCutConnections) {
  const auto fetched = fetch("cut=300000");
  ASSERT_TRUE(fetched) << fetched.error().message;
  expect_whole();
}

TEST_F(FetchTest, GoesOnAfterStalls) {
  options_.http.stall_s = 1;
  options_.http.n_tries = 20;
  options_.n_connections = 8;
  const auto fetched = fetch("stall=400000");
  ASSERT_TRUE(fetched) << fetched.error().message;
  expect_whole();
}

TEST_F(FetchTest, GoesOnWhereAnEarlierTryEnded) {
  fs::create_directories(paths_.incomplete.parent_path());
  std::ofstream(paths_.incomplete, std::ios::binary) << large().substr(0, 4'000'000);
  std::vector<uint64_t> checked;
  options_.on_check = [&](uint64_t n_done, uint64_t n_total) {
    checked.push_back(n_done);
    EXPECT_EQ(n_total, 4'000'000U);
    EXPECT_TRUE(progress_.empty());
  };
  const auto fetched = fetch("id=resume");
  ASSERT_TRUE(fetched) << fetched.error().message;
  expect_whole();
  EXPECT_EQ(progress_.front().n_resumed, 4'000'000U);
  ASSERT_GE(checked.size(), 3U);
  EXPECT_TRUE(std::is_sorted(checked.begin(), checked.end()));
  EXPECT_EQ(checked.back(), 4'000'000U);
  for (const auto& request : server().log("resume")) {
    EXPECT_EQ(request.range, request.method == "GET" ? "bytes=4000000-5000002" : "");
  }
}

TEST_F(FetchTest, StartsAnewFromARottenBeginning) {
  fs::create_directories(paths_.incomplete.parent_path());
  std::ofstream(paths_.incomplete, std::ios::binary) << std::string(1'000'000, 'x');
  const auto fetched = fetch("");
  ASSERT_TRUE(fetched) << fetched.error().message;
  expect_whole();
  ASSERT_EQ(notices_.size(), 1U);
  EXPECT_NE(notices_[0].find("damaged"), std::string::npos);
  // More than there should be, and exactly as much.
  for (const size_t n_bytes : {kLarge + 5, kLarge}) {
    fs::remove(paths_.target);
    std::ofstream(paths_.incomplete, std::ios::binary) << std::string(n_bytes, 'x');
    ASSERT_TRUE(fetch(""));
    expect_whole();
  }
}

TEST_F(FetchTest, DoesWithoutRanges) {
  ASSERT_TRUE(fetch("plain=1"));
  expect_whole();
  fs::remove(paths_.target);
  std::ofstream(paths_.incomplete, std::ios::binary) << large().substr(0, 1000);
  ASSERT_TRUE(fetch("plain=1"));
  expect_whole();
  fs::remove(paths_.target);
  expect_error(fetch("plain=1,cut=1000000"), ErrorCode::kUnsupported, "no ranges");
  expect_nothing_final();
  expect_prefix();
}

TEST_F(FetchTest, AsksAnewWhenAddressesExpire) {
  const auto fetched = fetch("id=expire,expire=2");
  ASSERT_TRUE(fetched) << fetched.error().message;
  expect_whole();
  size_t n_expired = 0;
  for (const auto& request : server().log("expire")) n_expired += request.status == "403";
  EXPECT_GE(n_expired, 1U);
}

TEST_F(FetchTest, RefusesAWrongHash) {
  expect_error(fetch("hash=wrong"), ErrorCode::kCorrupt, "sha256");
  expect_nothing_final();
  EXPECT_FALSE(fs::exists(paths_.incomplete));
}

TEST_F(FetchTest, RefusesAPinnedHashThatDiffers) {
  auto remote = stat("", "config.json");
  ASSERT_TRUE(remote);
  remote->hash_kind = HashKind::kSha256;
  remote->hash = std::string(64, '0');
  // sha256sum of {"a": 1}
  expect_error(fetch_file(*remote, paths_, options_), ErrorCode::kCorrupt,
               "f9d86028c6e0d64e225186f96acb69338b2c59764df79162107f5c4bb34d1310");
  expect_nothing_final();
}

TEST_F(FetchTest, RefusesAWrongLength) {
  expect_error(fetch("longer=1000"), ErrorCode::kCorrupt, "5000003");
  expect_nothing_final();
  options_.n_connections = 1;
  expect_error(fetch("longer=1000"), ErrorCode::kCorrupt, "had announced 5001003");
  expect_nothing_final();
  fs::create_directories(paths_.incomplete.parent_path());
  std::ofstream(paths_.incomplete, std::ios::binary) << large();
  expect_error(fetch("longer=1000"), ErrorCode::kIoError, "416");
  expect_nothing_final();
}

TEST_F(FetchTest, RefusesRangesThatAreOthers) {
  for (const int n_connections : {1, 4}) {
    options_.n_connections = n_connections;
    // A byte is here already, for one connection that wants the whole file asks for no range. Of several ranges any may
    // be the first that is refused.
    fs::create_directories(paths_.incomplete.parent_path());
    std::ofstream(paths_.incomplete, std::ios::binary) << large()[0];
    const auto fetched = fetch("hole=1");
    expect_error(fetched, ErrorCode::kCorrupt, "asked for bytes ");
    expect_error(fetched, ErrorCode::kCorrupt, "/5000003, the server answered 206 with");
    expect_nothing_final();
    EXPECT_EQ(expect_prefix(), 1U);
  }
}

TEST_F(FetchTest, RefusesAWebPage) {
  expect_error(fetch("html=1"), ErrorCode::kCorrupt, "web page");
  expect_nothing_final();
  EXPECT_FALSE(fs::exists(paths_.incomplete));
  expect_error(fetch("html=all"), ErrorCode::kCorrupt, "web page");
  expect_nothing_final();
}

TEST_F(FetchTest, WaitsForABusyServer) {
  for (const char* behaviour : {"id=f429,fail=429:2,wait=1", "id=f500,fail=500:3", "id=f503,fail=503:2,wait=0"}) {
    const auto fetched = fetch(behaviour);
    ASSERT_TRUE(fetched) << behaviour << ": " << fetched.error().message;
    expect_whole();
    fs::remove(paths_.target);
  }
}

TEST_F(FetchTest, TellsWhyAServerRefuses) {
  options_.http.n_tries = 2;
  const struct {
    const char* behaviour;
    ErrorCode code;
    const char* words;
  } cases[] = {{"deny=401", ErrorCode::kInvalidArgument, "set HF_TOKEN"},
               {"deny=403", ErrorCode::kInvalidArgument, "403"},
               {"deny=404", ErrorCode::kNotFound, "404"},
               {"deny=410", ErrorCode::kNotFound, "410"},
               {"deny=429,wait=3600", ErrorCode::kIoError, "asks to wait 3600 s"},
               {"deny=500", ErrorCode::kIoError, "try again later"},
               {"deny=418", ErrorCode::kIoError, "418"},
               {"id=a,fail=500:99", ErrorCode::kIoError, "500"},
               {"id=b,fail=404:99", ErrorCode::kNotFound, "404"},
               {"id=c,fail=403:99", ErrorCode::kInvalidArgument, "403"}};
  for (const auto& test : cases) {
    expect_error(fetch(test.behaviour), test.code, test.words);
    expect_nothing_final();
    EXPECT_FALSE(fs::exists(paths_.incomplete)) << test.behaviour;
  }
}

TEST_F(FetchTest, KeepsWhatCameWhenStopped) {
  std::atomic<bool> is_cancelled = false;
  options_.http.is_cancelled = [&] { return is_cancelled.load(); };
  options_.on_progress = [&](const FetchProgress& p) {
    if (p.n_done > 200'000) is_cancelled = true;
  };
  expect_error(fetch("rate=1000000"), ErrorCode::kCancelled, "stopped");
  expect_nothing_final();
  const size_t n_kept = expect_prefix();
  EXPECT_GT(n_kept, 200'000U);
  is_cancelled = false;
  progress_.clear();
  options_.on_progress = [this](const FetchProgress& p) { progress_.push_back(p); };
  ASSERT_TRUE(fetch(""));
  EXPECT_EQ(progress_.front().n_resumed, n_kept);
  expect_whole();
}

TEST_F(FetchTest, WaitsForAnotherPuller) {
  const auto remote = stat("id=two,rate=500000");
  ASSERT_TRUE(remote);
  std::atomic<bool> is_waiting = false;
  FetchOptions second = options_;
  second.on_progress = {};
  second.on_notice = [&](const std::string& sentence) { is_waiting = sentence.find("waiting") != sentence.npos; };
  Result<Fetched> first_result = Fetched::kNow, second_result = Fetched::kNow;
  std::thread one([&] { first_result = fetch_file(*remote, paths_, options_); });
  while (!fs::exists(paths_.incomplete)) std::this_thread::yield();
  std::thread two([&] { second_result = fetch_file(*remote, paths_, second); });
  one.join();
  two.join();
  ASSERT_TRUE(first_result && second_result);
  EXPECT_EQ(*first_result, Fetched::kNow);
  EXPECT_EQ(*second_result, Fetched::kAlreadyThere);
  EXPECT_TRUE(is_waiting);
  expect_whole();
}

TEST_F(FetchTest, CanBeStoppedWhileItWaits) {
  fs::create_directories(paths_.lock.parent_path());
  const auto lock = FileLock::acquire(paths_.lock, {}, {});
  ASSERT_TRUE(lock);
  options_.http.is_cancelled = [start = now_seconds()] { return now_seconds() - start > 0.2; };
  auto remote = RemoteFile{.url = "http://127.0.0.1:1/x", .location = "http://127.0.0.1:1/x", .n_bytes = 1};
  expect_error(fetch_file(remote, paths_, options_), ErrorCode::kCancelled, "stopped");
  EXPECT_EQ(notices_.size(), 1U);
}

TEST_F(FetchTest, LooksForSpaceFirst) {
  auto remote = stat("id=space");
  ASSERT_TRUE(remote);
  remote->n_bytes = uint64_t{1} << 60;
  expect_error(fetch_file(*remote, paths_, options_), ErrorCode::kIoError, "no space: 1024 PiB more are needed");
  EXPECT_EQ(server().log("space").size(), 1U);
  EXPECT_FALSE(fs::exists(paths_.incomplete));
  expect_nothing_final();
}

TEST_F(FetchTest, WhatIsThereNeedsNoRoom) {
  EXPECT_EQ(n_missing_bytes(paths_, kLarge), kLarge);
  fs::create_directories(paths_.target.parent_path());
  std::ofstream(paths_.incomplete) << std::string(1000, 'x');
  EXPECT_EQ(n_missing_bytes(paths_, kLarge), kLarge - 1000);
  EXPECT_EQ(n_missing_bytes(paths_, 999), 999U);  // too long: it starts anew
  std::ofstream(paths_.target) << "x";
  EXPECT_EQ(n_missing_bytes(paths_, kLarge), 0U);
}

TEST_F(FetchTest, EndsInOrderWhenTheDiskIsFull) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit tight{1'500'000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &tight);
  const auto fetched = fetch("");
  ::setrlimit(RLIMIT_FSIZE, &before);
  expect_error(fetched, ErrorCode::kIoError, "cannot write");
  expect_nothing_final();
  EXPECT_EQ(expect_prefix(), 1'500'000U);
  ASSERT_TRUE(fetch(""));
  expect_whole();
}

TEST_F(FetchTest, RefusesWhatIsInTheWay) {
  fs::create_directories(paths_.target.parent_path());
  fs::create_symlink(paths_.target, paths_.target);  // a circle
  expect_error(fetch(""), ErrorCode::kInvalidArgument, "leads nowhere");
  fs::remove(paths_.target);
  fs::create_symlink(folder_.path() / "none", paths_.target);
  expect_error(fetch(""), ErrorCode::kInvalidArgument, "leads nowhere");
  fs::remove(paths_.target);
  fs::create_directory(paths_.target);
  expect_error(fetch(""), ErrorCode::kInvalidArgument, "is no regular file");
  fs::remove(paths_.target);
  std::ofstream(paths_.target) << "mine";
  expect_error(fetch(""), ErrorCode::kCorrupt, "has 4 bytes");
  EXPECT_EQ(read_file(paths_.target), "mine");
  fs::remove(paths_.target);
  const fs::path precious = folder_.path() / "precious";
  std::ofstream(precious) << "mine";
  fs::create_symlink(precious, paths_.incomplete);
  expect_error(fetch(""), ErrorCode::kInvalidArgument, "is a link");
  EXPECT_EQ(read_file(precious), "mine");
  fs::remove(paths_.incomplete);
  fs::remove(paths_.lock);
  fs::create_symlink(precious, paths_.lock);
  expect_error(fetch(""), ErrorCode::kIoError, "cannot lock");
  EXPECT_EQ(read_file(precious), "mine");
  expect_nothing_final();
}

TEST_F(FetchTest, TakesALinkToTheWholeFile) {
  fs::create_directories(paths_.target.parent_path());
  std::ofstream(folder_.path() / "shared", std::ios::binary) << large();
  fs::create_symlink(folder_.path() / "shared", paths_.target);
  const auto fetched = fetch("");
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_EQ(*fetched, Fetched::kAlreadyThere);
}

TEST_F(FetchTest, SaysWhichFolderItMayNotWrite) {
  std::ofstream(folder_.path() / "file") << "x";
  paths_.target = folder_.path() / "file/blobs/x";
  expect_error(fetch(""), ErrorCode::kIoError, "cannot make this folder");
  paths_.target = "/proc/vitro/x";  // nobody may make a folder there, not even root
  expect_error(fetch(""), ErrorCode::kIoError, "/proc/vitro: cannot make this folder");
  paths_.target = folder_.path() / "x";
  paths_.incomplete = "/proc/x.incomplete";
  expect_error(fetch(""), ErrorCode::kIoError, "cannot create");
  expect_nothing_final();
}

}  // namespace
}  // namespace vitro
