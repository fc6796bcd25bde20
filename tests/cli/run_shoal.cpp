#include "cli/run_shoal.h"

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "temp_folder.h"

namespace shoal::test {
namespace {

std::string read_all(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

Result run_shell(const std::string& command, const std::string& folder) {
  const TempFolder temp;
  const std::string programs = std::filesystem::path(SHOAL_BINARY).parent_path();
  const std::string script = temp / "command.sh";
  std::ofstream(script) << "PATH='" << programs << "':$PATH\ncd '" << folder << "' || exit 99\n"
                        << command << "\n";
  const std::string line =
      "bash '" + script + "' > '" + temp / "out" + "' 2> '" + temp / "err" + "' < /dev/null";
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_all(temp / "out"), read_all(temp / "err")};
}

bool has_program(const std::string& name) {
  return run_shell("command -v " + name).exit_code == 0;
}

}  // namespace shoal::test
