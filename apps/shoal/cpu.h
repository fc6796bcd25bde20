// The instruction sets that the program was compiled for, and those that the processor has.
#pragma once

#include <cstdint>
#include <string>

namespace shoal {

// One bit a feature of the list in cpu.cpp.
uint32_t compiled_cpu_features();
uint32_t found_cpu_features();
std::string cpu_feature_names(uint32_t features);  // "avx2 fma avx512f"

}  // namespace shoal
