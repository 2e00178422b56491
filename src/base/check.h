// Assertions about our own code. Never reachable from a file, a text or a flag: those are Errors (error.h).
#pragma once

namespace vitro {

/// Prints file, line and the broken condition to stderr and aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* condition);

}  // namespace vitro

/// Always on.
#define VITRO_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::vitro::check_failed(__FILE__, __LINE__, #condition))

/// Only without NDEBUG: for inner loops.
#ifdef NDEBUG
#define VITRO_DCHECK(condition) static_cast<void>(0)
#else
#define VITRO_DCHECK(condition) VITRO_CHECK(condition)
#endif
