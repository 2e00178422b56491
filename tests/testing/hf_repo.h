// A repository in a Hugging Face cache, written for tests as huggingface_hub lays it out, by hand: not with our own
// code.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "testing/gguf_writer.h"

namespace vitro::testing {

inline const std::string kCommitA(40, 'a');
inline const std::string kCommitB(40, 'b');

inline std::string contents_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class HfRepo {
 public:
  /// `name`: "models--owner--name".
  HfRepo(const std::filesystem::path& root, const std::string& name) : folder_(root / name) {
    for (const char* part : {"blobs", "snapshots", "refs"}) std::filesystem::create_directories(folder_ / part);
  }
  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path blob(const std::string& contents) const {
    return folder_ / "blobs" / std::to_string(std::hash<std::string>{}(contents));
  }
  std::filesystem::path pointer(const std::string& commit, const std::string& file) const {
    return folder_ / "snapshots" / commit / file;
  }
  const HfRepo& add(const std::string& commit, const std::string& file, const std::string& contents) const {
    write_file(blob(contents), contents);
    link(commit, file, blob(contents).lexically_relative(pointer(commit, file).parent_path()));
    return *this;
  }
  void link(const std::string& commit, const std::string& file, const std::filesystem::path& target) const {
    std::filesystem::create_directories(pointer(commit, file).parent_path());
    std::filesystem::create_symlink(target, pointer(commit, file));
  }
  const HfRepo& ref(const std::string& name, const std::string& commit) const {
    std::filesystem::create_directories((folder_ / "refs" / name).parent_path());
    write_file(folder_ / "refs" / name, commit);
    return *this;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace vitro::testing
