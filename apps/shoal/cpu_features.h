// The bits of compiled_cpu_features() and found_cpu_features().
#pragma once

namespace shoal {

enum CpuFeature {
  kSse42,
  kAvx,
  kAvx2,
  kFma,
  kAvx512f,
  kAvx512bw,
  kAvx512vl,
  kAvx512dq,
  kAvx512bf16,
  kCpuFeatures
};

inline constexpr const char* kCpuFeatureNames[kCpuFeatures] = {
    "sse4.2", "avx", "avx2", "fma", "avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512bf16"};

}  // namespace shoal
