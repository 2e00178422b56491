#include "formats/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "testing/expect_error.h"
#include "testing/gguf_writer.h"
#include "testing/temp_folder.h"

namespace vitro {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;

/// A folder of its own for each test.
class MappedFileTest : public ::testing::Test {
 protected:
  const testing::TempFolder temp_;
  const fs::path& folder_ = temp_.path();
};

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST_F(MappedFileTest, BothModesGiveTheSameBytes) {
  std::string contents;
  for (int i = 0; i < 30000; ++i) contents += static_cast<char>(i * 7);
  testing::write_file(folder_ / "f", contents);
  for (const LoadMode mode : {LoadMode::kMap, LoadMode::kRead}) {
    auto file = MappedFile::open(folder_ / "f", mode);
    ASSERT_TRUE(file.has_value());
    EXPECT_EQ(text_of(*file), contents);
    EXPECT_EQ(file->path(), folder_ / "f");
  }
}

TEST_F(MappedFileTest, ReleasedPagesReadTheSame) {
  const std::string contents(5 * 4096 + 100, 'q');
  testing::write_file(folder_ / "f", contents);
  for (const LoadMode mode : {LoadMode::kMap, LoadMode::kRead}) {
    auto file = MappedFile::open(folder_ / "f", mode);
    ASSERT_TRUE(file.has_value());
    file->release(0, contents.size());
    file->release(4000, 200);
    file->release(1, SIZE_MAX);
    file->release(SIZE_MAX, 1);
    EXPECT_EQ(text_of(*file), contents);
  }
}

TEST_F(MappedFileTest, MovedFilesKeepTheirBytes) {
  testing::write_file(folder_ / "f", "abc");
  auto file = MappedFile::open(folder_ / "f");
  ASSERT_TRUE(file.has_value());
  const std::byte* data = file->bytes().data();
  const MappedFile moved = std::move(*file);
  EXPECT_EQ(moved.bytes().data(), data);
  EXPECT_EQ(text_of(moved), "abc");
}

TEST_F(MappedFileTest, AnEmptyFileHasNoBytes) {
  testing::write_file(folder_ / "f", "");
  for (const LoadMode mode : {LoadMode::kMap, LoadMode::kRead}) {
    auto file = MappedFile::open(folder_ / "f", mode);
    ASSERT_TRUE(file.has_value());
    EXPECT_EQ(file->bytes().size(), 0u);
    file->release(0, 1);
  }
}

TEST_F(MappedFileTest, RefusesWhatIsNoFile) {
  expect_error(MappedFile::open(folder_ / "none"), ErrorCode::kNotFound, "none: cannot open");
  expect_error(MappedFile::open(folder_), ErrorCode::kInvalidArgument, "is a folder");
  expect_error(MappedFile::open("/dev/null"), ErrorCode::kInvalidArgument, "is no regular file");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  expect_error(MappedFile::open(folder_ / "pipe"), ErrorCode::kInvalidArgument, "is no regular file");
  testing::write_file(folder_ / "f", "x");
  expect_error(MappedFile::open(folder_ / "f" / "below"), ErrorCode::kNotFound, "below");
}

TEST_F(MappedFileTest, FollowsLinks) {
  testing::write_file(folder_ / "f", "abc");
  fs::create_symlink(folder_ / "f", folder_ / "link");
  auto file = MappedFile::open(folder_ / "link");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(text_of(*file), "abc");
}

}  // namespace
}  // namespace vitro
