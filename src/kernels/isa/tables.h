// The tables that this build has; dispatch.cc chooses among them by what the processor can do.
#pragma once

#include "kernels/table.h"

namespace vitro {

extern const KernelTable kReferenceTable;
#if defined(__x86_64__)
extern const KernelTable kV2Table;
extern const KernelTable kAvx2Table;
extern const KernelTable kAvx512Table;
#endif

}  // namespace vitro
