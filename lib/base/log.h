// What a running command tells its user: lines on standard output, warnings on standard error, one live
// status line when standard output is a terminal, and a copy of every line in a file.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace shoal {

class Log {
 public:
  // A quiet log prints nothing: that of ranks other than the first, which would say the same.
  explicit Log(bool quiet = false);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // Appends every further line to a file as well. Throws RuntimeFailure if it cannot be opened.
  void attach(const std::string& path);

  void line(std::string_view text);
  void warning(std::string_view text);
  template <typename... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) {
    line(fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) {
    warning(fmt::format(format, std::forward<Args>(args)...));
  }

  bool terminal() const { return terminal_; }
  int width() const;  // columns of the terminal; 80 when there is none
  // Replaces the status line; nothing happens without a terminal. The next line() moves it down.
  void status(std::string_view text);

 private:
  void clear_status();
  bool quiet_, terminal_;
  bool status_shown_ = false;
  std::string status_;
  std::FILE* file_ = nullptr;
};

}  // namespace shoal
