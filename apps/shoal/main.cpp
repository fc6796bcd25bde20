// The program's entry. This file and cpu.cpp are compiled for the baseline of the architecture, so that a
// processor without the instructions of the rest gets a message and not an illegal instruction.
#include <cstdio>
#include <exception>

#include "base/error.h"
#include "shoal/commands.h"

int main(int argc, char** argv) {
  using namespace shoal;
  try {
    return run_command_line(shoal_program(), {argv + 1, argv + argc});
  } catch (const Error& error) {
    std::fprintf(stderr, "shoal: error: %s\n", error.what());
    return int(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shoal: error: %s\n", error.what());
    return int(ExitCode::failure);
  }
}
