#include "base/fail_errno.h"

#include <cerrno>
#include <cstring>

namespace vitro {

tl::unexpected<Error> fail_errno(const std::filesystem::path& path, std::string_view doing) {
  return fail(ErrorCode::kIoError, "{}: cannot {}: {}", path.string(), doing, std::strerror(errno));
}

}  // namespace vitro
