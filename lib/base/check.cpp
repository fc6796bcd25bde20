#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace shoal {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "shoal: internal error at %s:%d: %s does not hold; please report it\n", file, line,
               condition);
  std::abort();
}

}  // namespace shoal
