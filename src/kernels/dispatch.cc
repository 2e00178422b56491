// Which kernel tables run on this processor. Nothing is cached here: the caller asks once and keeps the pointer.
#include <array>
#include <cstring>

#include "base/cpu.h"
#include "kernels/isa/tables.h"
#include "kernels/table.h"

namespace vitro {
namespace {

struct Candidate {
  const KernelTable* table;
  bool is_usable;
};

/// Best first; the reference runs everywhere.
auto candidates() {
#if defined(__x86_64__)
  const CpuFeatures cpu = detect_cpu();
  return std::array<Candidate, 4>{{{&kAvx512Table, cpu.has_avx512},
                                   {&kAvx2Table, cpu.has_avx2},
                                   {&kV2Table, cpu.has_v2},
                                   {&kReferenceTable, true}}};
#else
  return std::array<Candidate, 1>{{{&kReferenceTable, true}}};
#endif
}

}  // namespace

const KernelTable* find_kernel_table(const char* name) {
  for (const Candidate& candidate : candidates()) {
    if (candidate.is_usable && std::strcmp(candidate.table->name, name) == 0) return candidate.table;
  }
  return nullptr;
}

const KernelTable& best_kernel_table() {
  for (const Candidate& candidate : candidates()) {
    if (candidate.is_usable) return *candidate.table;
  }
  return kReferenceTable;
}

const char* available_kernel_tables() {
  // Each instruction set includes the ones after it, so the best one says which there are.
  static constexpr const char* kAll = "avx512, avx2, v2, reference";
  return std::strstr(kAll, best_kernel_table().name);
}

}  // namespace vitro
