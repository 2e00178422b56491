// GGUF twins of the goldens: tests/golden keeps each as a patch of the golden's safetensors file. What a patch is, and
// the program that writes the files for people: tools/golden_twin.py.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "testing/temp_folder.h"

namespace vitro::testing {

/// What `patch` makes of `source`. Corrupt where it breaks a rule of the format; nothing is read outside the two, and
/// no more is allocated than the head of the patch admits to, 64 MiB at most.
Result<std::string> apply_patch(std::string_view patch, std::string_view source);

/// The twin of one golden as a file, for as long as the object lives. A twin that cannot be rebuilt ends the test.
class GoldenTwin {
 public:
  explicit GoldenTwin(const std::string& name);
  const std::filesystem::path& path() const { return path_; }

 private:
  TempFolder folder_;
  std::filesystem::path path_;  // in folder_
};

}  // namespace vitro::testing
