// Whole files, for tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "temp_folder.h"

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::string& path, const std::string& content) {
  std::filesystem::remove(path);  // some file systems flush a file that is truncated and written again
  std::ofstream(path, std::ios::binary) << content;
}
