#include "store/pull.h"

#include <system_error>

#include "base/human.h"

namespace vitro {
namespace fs = std::filesystem;

Status check_room(const fs::path& folder, uint64_t n_bytes) {
  std::error_code error;
  fs::path there = fs::absolute(folder, error);
  while (!fs::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  const fs::space_info space = fs::space(there, error);
  if (error || space.available >= n_bytes) return {};
  return fail(ErrorCode::kIoError, "{}: no space: {} are needed, {} are free; 'vitro models rm NAME' makes room",
              folder.string(), human_bytes(n_bytes), human_bytes(space.available));
}

Result<Pulled> pull(const ModelName& name, const Caches& caches, const PullEvents& events) {
  if (name.known) return pull_known(*name.known, caches.vitro, events);
  return pull_hub(name.hub, caches, events);
}

}  // namespace vitro
