#include "store/pull.h"

namespace vitro {

Result<Pulled> pull(const ModelName& name, const Caches& caches, const PullEvents& events) {
  if (name.known) return pull_known(*name.known, caches.vitro, events);
  return pull_hub(name.hub, caches, events);
}

}  // namespace vitro
