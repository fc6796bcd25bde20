// Compiled with the same -march as the kernels; what the compiler may have used is in its macros.
#include "shoal/cpu.h"
#include "shoal/cpu_features.h"

namespace shoal {

uint32_t compiled_cpu_features() {
  uint32_t features = 0;
#ifdef __SSE4_2__
  features |= 1u << kSse42;
#endif
#ifdef __AVX__
  features |= 1u << kAvx;
#endif
#ifdef __AVX2__
  features |= 1u << kAvx2;
#endif
#ifdef __FMA__
  features |= 1u << kFma;
#endif
#ifdef __AVX512F__
  features |= 1u << kAvx512f;
#endif
#ifdef __AVX512BW__
  features |= 1u << kAvx512bw;
#endif
#ifdef __AVX512VL__
  features |= 1u << kAvx512vl;
#endif
#ifdef __AVX512DQ__
  features |= 1u << kAvx512dq;
#endif
#ifdef __AVX512BF16__
  features |= 1u << kAvx512bf16;
#endif
  return features;
}

}  // namespace shoal
