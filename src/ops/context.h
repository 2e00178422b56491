// OpContext: what an op needs besides its operands. Made once an engine; no globals.
#pragma once

#include "base/thread_pool.h"
#include "kernels/table.h"

namespace vitro {

struct OpContext {
  const KernelTable* kernels = nullptr;
  ThreadPool* pool = nullptr;
};

}  // namespace vitro
