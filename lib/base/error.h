// Errors that end a command, and the exit code each one means.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace shoal {

// What a process returns. 75 is EX_TEMPFAIL: run the same command again to continue.
enum class ExitCode : int {
  done = 0,
  failure = 1,   // something failed while running
  usage = 2,     // the command line, the run spec or an input file is wrong
  numerics = 3,  // the loss diverged; the last good checkpoint is kept
  stopped = 75,  // stopped early with a checkpoint
};

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// One mistake of a user's: what is wrong, where, and how to mend it. Empty parts are left out of the message.
struct Problem {
  std::string what = {};     // "unknown key optimizer.lrate"
  std::string where = {};    // "configs/demo.yaml:12:3", "corpus.idx: byte 34", "command line"
  std::string value = {};    // the offending value as written
  std::string allowed = {};  // "a number from 0 to 1"
  std::string hint = {};     // "did you mean optimizer.lr?"
  std::string excerpt = {};  // the line of the file at `where`, and a caret below it
};

// The problem as a few lines of text.
std::string to_string(const Problem& problem);

// A user's mistake: exit code 2.
class UserError : public Error {
 public:
  explicit UserError(const Problem& problem) : Error(ExitCode::usage, to_string(problem)) {}
  explicit UserError(const std::string& message) : Error(ExitCode::usage, message) {}
};

// A failure of the machine or of a file while running: exit code 1.
class RuntimeFailure : public Error {
 public:
  explicit RuntimeFailure(const Problem& problem) : Error(ExitCode::failure, to_string(problem)) {}
  explicit RuntimeFailure(const std::string& message) : Error(ExitCode::failure, message) {}
};

// Throws a UserError or a RuntimeFailure with a formatted message.
template <typename... Args>
[[noreturn]] void user_error(fmt::format_string<Args...> format, Args&&... args) {
  throw UserError(fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
[[noreturn]] void runtime_failure(fmt::format_string<Args...> format, Args&&... args) {
  throw RuntimeFailure(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace shoal
