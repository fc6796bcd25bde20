#include "shoal/commands.h"

namespace shoal {

Command completion_command() {
  return {.name = "completion", .summary = "print a shell completion script", .run = [](const Invocation&) {
            return 0;
          }};
}

}  // namespace shoal
