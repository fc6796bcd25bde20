// Every subcommand, one function a cmd_*.cpp.
#pragma once

#include "shoal/command.h"

namespace shoal {

Command completion_command();
Command man_command();

// The whole program: the root of the command table.
Command shoal_program();

}  // namespace shoal
