// The event file against an independent reader: tests/train/read_events.py, Python's standard library only.
#include "train/event_file.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "temp_folder.h"

using namespace shoal;

namespace {

std::string read_with_python(const std::string& path, const std::string& out) {
  const std::string command = "python3 " SHOAL_SOURCE_DIR "/tests/train/read_events.py " + path + " > " + out;
  REQUIRE(std::system(command.c_str()) == 0);
  std::ifstream file(out);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void write(EventFile& file, int64_t step, double loss) {
  const std::array<std::pair<std::string_view, double>, 2> values{{{"loss", loss}, {"lr", 0.5}}};
  file.scalars(step, values);
}

}  // namespace

TEST_CASE("crc32c gives the published check value") {
  CHECK(crc32c("123456789") == 0xE3069283u);
  CHECK(crc32c("") == 0u);
}

TEST_CASE("an independent reader finds every scalar of an event file") {
  const test::TempFolder dir;
  EventFile file(dir / "tb", -1);
  write(file, 1, 3.25);
  write(file, 300, -2);
  CHECK(read_with_python(file.path(), dir / "out") ==
        "version brain.Event:2\n1 loss 3.25\n1 lr 0.5\n300 loss -2\n300 lr 0.5\n");
}

TEST_CASE("a reopened event file holds each step once") {
  const test::TempFolder dir;
  std::string path;
  {
    EventFile file(dir / "tb", -1);
    path = file.path();
    for (int64_t step = 1; step <= 200; ++step) write(file, step, double(step));
  }
  // A crash in the middle of a record.
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 5);
  {
    EventFile file(dir / "tb", 197);
    CHECK(file.path() == path);
    write(file, 198, 1);
  }
  std::istringstream lines(read_with_python(path, dir / "out"));
  std::string line, last;
  int count = 0;
  while (std::getline(lines, line)) {
    ++count;
    last = line;
  }
  CHECK(count == 1 + 2 * 198);
  CHECK(last == "198 lr 0.5");
}
