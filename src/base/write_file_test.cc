#include "base/write_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <string>

#include "testing/temp_folder.h"

namespace vitro {
namespace {

class WriteFile : public ::testing::Test {
 protected:
  static std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  size_t n_files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  const testing::TempFolder temp_;
  const std::filesystem::path& folder_ = temp_.path();
};

TEST_F(WriteFile, WritesNewFiles) {
  const std::string contents("a\0b\n", 4);
  ASSERT_TRUE(write_file(folder_ / "new", contents, false));
  EXPECT_EQ(read(folder_ / "new"), contents);
  ASSERT_TRUE(write_file(folder_ / "empty", "", false));
  EXPECT_EQ(read(folder_ / "empty"), "");
  EXPECT_EQ(n_files(), 2U);
}

TEST_F(WriteFile, ReplacesOnlyWhereAsked) {
  ASSERT_TRUE(write_file(folder_ / "file", "old", false));
  const Status refused = write_file(folder_ / "file", "new", false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(read(folder_ / "file"), "old");
  ASSERT_TRUE(write_file(folder_ / "file", "new", true));
  EXPECT_EQ(read(folder_ / "file"), "new");
  EXPECT_EQ(n_files(), 1U);
}

TEST_F(WriteFile, KeepsPermissionsAndFollowsLinks) {
  ASSERT_TRUE(write_file(folder_ / "file", "old", false));
  ASSERT_EQ(::chmod((folder_ / "file").c_str(), 0600), 0);
  std::filesystem::create_symlink("file", folder_ / "link");
  EXPECT_FALSE(write_file(folder_ / "link", "new", false));
  ASSERT_TRUE(write_file(folder_ / "link", "new", true));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(read(folder_ / "file"), "new");
  struct stat status {};
  ASSERT_EQ(::stat((folder_ / "file").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(n_files(), 2U);
}

TEST_F(WriteFile, SaysWhatCannotBeWritten) {
  const Status no_folder = write_file(folder_ / "missing" / "file", "x", true);
  ASSERT_FALSE(no_folder);
  EXPECT_EQ(no_folder.error().code, ErrorCode::kIoError);
  EXPECT_NE(no_folder.error().message.find("missing/file"), std::string::npos);
  const Status is_folder = write_file(folder_, "x", true);
  ASSERT_FALSE(is_folder);
  EXPECT_EQ(is_folder.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(n_files(), 0U);
}

TEST_F(WriteFile, MakesFolders) {
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(make_folders(folder_ / "a/b/c"));
  EXPECT_TRUE(std::filesystem::is_directory(folder_ / "a/b/c"));
  EXPECT_TRUE(make_folders(""));  // of a file that is named without a folder
  ASSERT_TRUE(write_file(folder_ / "file", "", false));
  const Status refused = make_folders(folder_ / "file/x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kIoError);
  EXPECT_NE(refused.error().message.find("file/x: cannot make this folder"), std::string::npos);
}

}  // namespace
}  // namespace vitro
