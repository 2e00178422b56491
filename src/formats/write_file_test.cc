#include "formats/write_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "testing/temp_folder.h"

namespace vitro::testing {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

size_t n_entries(const std::filesystem::path& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(WriteFile, ReplacesWholeFilesAndKeepsTheirPermissions) {
  TempFolder folder;
  const auto path = folder.path() / "a";
  ASSERT_TRUE(write_file_atomically(path, std::string("one\0two", 7)).has_value());
  EXPECT_EQ(text_of(path), std::string("one\0two", 7));
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  ASSERT_TRUE(write_file_atomically(path, "").has_value());
  EXPECT_EQ(text_of(path), "");
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(n_entries(folder.path()), 1U);
}

TEST(WriteFile, FollowsLinks) {
  TempFolder folder;
  std::ofstream(folder.path() / "target") << "old";
  std::filesystem::create_symlink("target", folder.path() / "link");
  ASSERT_TRUE(write_file_atomically(folder.path() / "link", "x").has_value());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "link"));
  EXPECT_EQ(text_of(folder.path() / "target"), "x");
}

TEST(WriteFile, AFailureLeavesNothing) {
  TempFolder folder;
  const auto missing = write_file_atomically(folder.path() / "no" / "file", "x");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kIoError);
  EXPECT_NE(missing.error().message.find("no/file"), std::string::npos);
  EXPECT_EQ(write_file_atomically(folder.path(), "x").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(n_entries(folder.path()), 0U);
}

}  // namespace
}  // namespace vitro::testing
