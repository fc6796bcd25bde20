// What this program was built from, with and for.
#pragma once

#include <string>

namespace shoal {

std::string version();       // "0.1.0 (a1b2c3d)"
std::string build_report();  // the lines of `shoal --version`

}  // namespace shoal
