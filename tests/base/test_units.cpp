#include <doctest/doctest.h>

#include "base/units.h"

using namespace shoal;

TEST_CASE("counts keep three digits") {
  CHECK(format_count(812) == "812");
  CHECK(format_count(39812) == "39.8k");
  CHECK(format_count(999.6) == "1.00k");
  CHECK(format_count(70426624) == "70.4M");
  CHECK(format_count(1.2e12) == "1.20T");
}

TEST_CASE("bytes, durations and learning rates") {
  CHECK(format_bytes(512) == "512B");
  CHECK(format_bytes(1.2 * (1 << 30)) == "1.2G");
  CHECK(format_bytes(345.0 * (1 << 20)) == "345M");
  CHECK(format_duration(42.4) == "42s");
  CHECK(format_duration(33 * 60) == "33m");
  CHECK(format_duration(2 * 3600 + 5 * 60) == "2h05m");
  CHECK(format_duration(76 * 3600) == "3d04h");
  CHECK(format_lr(2.9e-4) == "2.9e-4");
  CHECK(format_lr(1e-12) == "1.0e-12");
  CHECK(format_lr(0) == "0.0e+0");
}
