#include "shoal/cpu.h"

#include <unistd.h>

#include <cstdio>

#include "shoal/cpu_features.h"

namespace shoal {

uint32_t found_cpu_features() {
  uint32_t features = 0;
#if defined(__x86_64__)
  __builtin_cpu_init();
  features |= uint32_t(__builtin_cpu_supports("sse4.2") != 0) << kSse42;
  features |= uint32_t(__builtin_cpu_supports("avx") != 0) << kAvx;
  features |= uint32_t(__builtin_cpu_supports("avx2") != 0) << kAvx2;
  features |= uint32_t(__builtin_cpu_supports("fma") != 0) << kFma;
  features |= uint32_t(__builtin_cpu_supports("avx512f") != 0) << kAvx512f;
  features |= uint32_t(__builtin_cpu_supports("avx512bw") != 0) << kAvx512bw;
  features |= uint32_t(__builtin_cpu_supports("avx512vl") != 0) << kAvx512vl;
  features |= uint32_t(__builtin_cpu_supports("avx512dq") != 0) << kAvx512dq;
  features |= uint32_t(__builtin_cpu_supports("avx512bf16") != 0) << kAvx512bf16;
#endif
  return features;
}

std::string cpu_feature_names(uint32_t features) {
  std::string names;
  for (int i = 0; i < kCpuFeatures; ++i) {
    if ((features >> i & 1u) == 0) continue;
    if (!names.empty()) names += ' ';
    names += kCpuFeatureNames[i];
  }
  return names.empty() ? "none beyond the baseline" : names;
}

namespace {

// Runs before the initialisers of the other files, which may already hold such instructions.
[[gnu::constructor(101)]] void refuse_unsupported_cpu() {
  const uint32_t missing = compiled_cpu_features() & ~found_cpu_features();
  if (missing == 0) return;
  std::fputs("shoal: error: this program was compiled for a processor with", stderr);
  for (int i = 0; i < kCpuFeatures; ++i) {
    if (missing >> i & 1u) std::fprintf(stderr, " %s", kCpuFeatureNames[i]);
  }
  std::fputs(
      ", which this one lacks\n  hint: configure with -DSHOAL_MARCH=native here, or "
      "-DSHOAL_MARCH=x86-64-v2\n",
      stderr);
  _exit(1);
}

}  // namespace
}  // namespace shoal
