#include "data/rank_rows.h"

#include "base/check.h"

namespace shoal {

std::vector<int64_t> samples_of(int64_t step, int64_t global, int64_t micro, int replicas, int replica) {
  SHOAL_CHECK(replica >= 0 && replica < replicas && global % (micro * replicas) == 0);
  std::vector<int64_t> samples;
  for (int64_t pass = step * global; pass < (step + 1) * global; pass += micro * replicas) {
    for (int64_t row = 0; row < micro; ++row) samples.push_back(pass + replica * micro + row);
  }
  return samples;
}

}  // namespace shoal
