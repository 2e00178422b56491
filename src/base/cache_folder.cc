#include "base/cache_folder.h"

#include <cstdlib>

namespace vitro {

std::filesystem::path cache_folder() {
  const char* cache = std::getenv("VITRO_CACHE");
  if (cache && *cache) return cache;
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home && *home ? home : ".") / ".cache" / "vitro";
}

}  // namespace vitro
