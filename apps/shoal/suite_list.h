// The checkpoints of the runs in one folder, such as a suite's.
#pragma once

#include <string>
#include <vector>

namespace shoal {

// The folders in a folder that hold checkpoints, in order of their names; none if it is itself a run's.
std::vector<std::string> runs_in(const std::string& folder);

// Prints a table: a row for each revision "step1000", a column for each run. Returns the exit code: 1 if a
// checkpoint is damaged.
int list_suite(const std::vector<std::string>& runs);

}  // namespace shoal
