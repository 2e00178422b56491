#include "store/work_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace vitro {
namespace fs = std::filesystem;

Result<WorkFolder> WorkFolder::make(const fs::path& parent, std::string_view prefix) {
  std::string pattern = (parent / (std::string(prefix) + "XXXXXX")).string();
  if (::mkdtemp(pattern.data())) return WorkFolder(pattern);
  return fail(ErrorCode::kIoError, "{}: no folder can be made in it: {}", parent.string(), std::strerror(errno));
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace vitro
