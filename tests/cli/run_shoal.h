// Runs the program as a user does.
#pragma once

#include <string>

namespace shoal::test {

struct Result {
  int exit_code = -1;
  std::string out, err;
};

// A shell command line; "shoal" is the program that was just built. Runs in the given folder.
Result run_shell(const std::string& command, const std::string& folder = SHOAL_SOURCE_DIR);

bool has_program(const std::string& name);

}  // namespace shoal::test
