#include "shoal/commands.h"

namespace shoal {

Command bench_command() {
  return {.name = "bench",
          .summary = "measure how fast this machine trains",
          .commands = {bench_gemm_command(), bench_ops_command(), bench_step_command()}};
}

}  // namespace shoal
