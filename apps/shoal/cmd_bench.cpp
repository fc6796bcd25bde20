#include "shoal/commands.h"

namespace shoal {

Command bench_command() {
  return {
      .name = "bench", .summary = "measure how fast this machine trains", .commands = {bench_step_command()}};
}

}  // namespace shoal
