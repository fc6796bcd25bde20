#include "shoal/build_info.h"

#include <fmt/format.h>

#include "shoal/build_facts.h"
#include "shoal/cpu.h"

namespace shoal {

std::string version() {
  return fmt::format("{} ({})", SHOAL_VERSION, SHOAL_COMMIT);
}

std::string build_report() {
  return fmt::format(
      "shoal {}\n"
      "  commit        {}\n"
      "  compiler      {}\n"
      "  build type    {}\n"
      "  MPI           {}\n"
      "  HDF5          {}\n"
      "  oneDNN        {}\n"
      "  CPU compiled  -march={}: {}\n"
      "  CPU found     {}\n",
      SHOAL_VERSION, SHOAL_COMMIT, SHOAL_COMPILER, SHOAL_BUILD_TYPE, SHOAL_MPI, SHOAL_HDF5, SHOAL_ONEDNN,
      SHOAL_CPU_MARCH, cpu_feature_names(compiled_cpu_features()), cpu_feature_names(found_cpu_features()));
}

}  // namespace shoal
