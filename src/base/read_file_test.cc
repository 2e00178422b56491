#include "base/read_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "testing/expect_error.h"
#include "testing/temp_folder.h"

namespace vitro {
namespace {

using testing::expect_error;
namespace fs = std::filesystem;

class ReadFile : public ::testing::Test {
 protected:
  fs::path write(const std::string& contents) const {
    std::ofstream(folder_.path() / "file", std::ios::binary) << contents;
    return folder_.path() / "file";
  }
  testing::TempFolder folder_;
};

TEST_F(ReadFile, GivesSmallFilesWhole) {
  for (const std::string& contents : {std::string(), std::string("a\0b\n", 4), std::string(3'000'001, 'x')}) {
    const auto text = read_small_file(write(contents), contents.size());
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_TRUE(*text == contents);
  }
  expect_error(read_small_file(write("12345"), 4), ErrorCode::kCorrupt, "at most 4 bytes expected");
  EXPECT_EQ(read_beginning(write("12345"), 4).value_or(""), "1234");
}

TEST_F(ReadFile, TakesNoMoreOfAHugeFile) {
  const fs::path path = write("{}");
  fs::resize_file(path, uint64_t{1} << 40);  // a hole: it takes no room
  expect_error(read_small_file(path, 100), ErrorCode::kCorrupt, "at most 100 bytes expected");
  EXPECT_EQ(read_beginning(path, 2).value_or(""), "{}");
}

TEST_F(ReadFile, EndsWhereTheFileEnds) {
  const fs::path path = write(std::string(1'500'000, 'x'));
  const auto file = open_to_read(path);
  ASSERT_TRUE(file);
  size_t largest = 0;
  const auto sink = [&](std::string_view piece) -> Status {
    largest = std::max(largest, piece.size());
    return {};
  };
  EXPECT_EQ(read_pieces(*file, path, 2'000'000, sink).value_or(0), 1'500'000U);
  EXPECT_EQ(largest, size_t{1} << 20);
  EXPECT_EQ(read_pieces(*file, path, 7, sink).value_or(0), 7U);
  const auto refuse = [](std::string_view) -> Status { return fail(ErrorCode::kCancelled, "stopped"); };
  expect_error(read_pieces(*file, path, 7, refuse), ErrorCode::kCancelled, "stopped");
}

TEST_F(ReadFile, RefusesWhatIsNoFile) {
  expect_error(read_small_file(folder_.path() / "none", 9), ErrorCode::kNotFound, "none: cannot open: No such file");
  expect_error(read_small_file(folder_.path(), 9), ErrorCode::kInvalidArgument, "is a folder; name a file");
  const fs::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_error(read_small_file(pipe, 9), ErrorCode::kInvalidArgument, "pipe: is no regular file; name a file");
  fs::create_symlink(folder_.path() / "circle", folder_.path() / "circle");
  expect_error(read_small_file(folder_.path() / "circle", 9), ErrorCode::kIoError, "symbolic links");
}

}  // namespace
}  // namespace vitro
