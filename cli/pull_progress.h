// Pulling a model in sight of the user.
#pragma once

#include "base/result.h"
#include "store/pull.h"

namespace vitro {

/// Pulls with talk and a progress line on stderr; ctrl-C stops it in good order (Cancelled).
Result<Pulled> pull_with_progress(const ModelName& name, const Caches& caches);

}  // namespace vitro
