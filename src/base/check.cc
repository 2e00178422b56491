#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace vitro {

void check_failed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: internal error: %s does not hold; please report this\n", file, line, condition);
  std::abort();
}

}  // namespace vitro
