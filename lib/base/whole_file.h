// A file that readers see whole or not at all: written under another name, then renamed. Not synced: for what
// must outlast a power cut there is checkpoint/publish.h.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace shoal {

class WholeFile {
 public:
  explicit WholeFile(std::string path);
  void write(std::string_view text) { out_ << text; }
  // Throws RuntimeFailure; an older file of the same name is then still there.
  void finish();

 private:
  std::string path_;
  std::ofstream out_;
};

void write_whole_file(const std::string& path, std::string_view text);

}  // namespace shoal
