#include "base/log.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace shoal {

namespace {

void print(std::FILE* to, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), to);
}

}  // namespace

Log::Log(bool quiet) : quiet_(quiet), terminal_(!quiet && isatty(STDOUT_FILENO) == 1) {}

Log::~Log() {
  if (status_shown_) print(stdout, "\n");
  std::fflush(stdout);
  if (file_ != nullptr) std::fclose(file_);
}

void Log::attach(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "ae");
  if (file == nullptr) runtime_failure("cannot open {} for appending: {}", path, std::strerror(errno));
  if (file_ != nullptr) std::fclose(file_);
  file_ = file;
}

void Log::clear_status() {
  if (status_shown_) print(stdout, "\r\033[K");
}

void Log::line(std::string_view text) {
  if (!quiet_) {
    clear_status();
    print(stdout, text);
    print(stdout, "\n");
    if (status_shown_) print(stdout, status_);
    std::fflush(stdout);
  }
  if (file_ != nullptr) {
    print(file_, text);
    print(file_, "\n");
    std::fflush(file_);
  }
}

void Log::warning(std::string_view text) {
  if (quiet_) return;
  clear_status();
  std::fflush(stdout);
  print(stderr, fmt::format("warning: {}\n", text));
  if (status_shown_) {
    print(stdout, status_);
    std::fflush(stdout);
  }
  if (file_ != nullptr) {
    print(file_, fmt::format("warning: {}\n", text));
    std::fflush(file_);
  }
}

int Log::width() const {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

void Log::status(std::string_view text) {
  if (!terminal_) return;
  clear_status();
  status_ = text;
  status_shown_ = !text.empty();
  print(stdout, text);
  std::fflush(stdout);
}

}  // namespace shoal
