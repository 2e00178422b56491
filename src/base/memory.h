// How much memory this process may still take, asked before a plan is carried out.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace vitro {

/// Bytes that can be used without driving the machine out of memory: what the kernel calls available, within the memory
/// limit of the process's control group. The largest int64 where the system does not say.
int64_t available_memory_bytes();

/// Bytes that the C++ heap has given out at this moment, as glibc counts them: the difference of two calls is what was
/// made between them and still lives. 0 where the heap does not say (other C libraries, sanitizers).
int64_t heap_bytes();

/// OutOfMemory, with both numbers, if `n_bytes` are more than is available. `purpose` names what asks, e.g. "the
/// weights".
Status check_memory(int64_t n_bytes, const char* purpose);

}  // namespace vitro
