#include "plan/small_file.h"

#include <system_error>

namespace vitro {

Result<MappedFile> read_small_file(const std::filesystem::path& path, uintmax_t most) {
  std::error_code error;  // of folders, pipes and files that are not there: MappedFile names what is wrong
  const uintmax_t n_bytes = std::filesystem::file_size(path, error);
  if (!error && n_bytes > most)
    return fail(ErrorCode::kCorrupt, "{}: {} bytes, at most {} expected; it is another file", path.string(), n_bytes,
                most);
  return MappedFile::open(path, LoadMode::kRead);
}

}  // namespace vitro
