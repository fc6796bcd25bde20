// The files that a command's words name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

struct InputFile {
  std::string path;   // "-" for standard input
  int64_t bytes = 0;  // 0 if not known
};

// Files stay in the order given; a folder stands for the regular files below it in the order of their paths,
// those whose name begins with a dot left out. Throws UserError naming a path that is not there or holds
// nothing.
std::vector<InputFile> find_input_files(const std::vector<std::string>& paths);

}  // namespace shoal
