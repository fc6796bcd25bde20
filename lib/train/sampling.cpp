#include "train/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/check.h"

namespace shoal {

int32_t sample(std::span<const float> logits, const Sampling& options, double uniform) {
  SHOAL_CHECK(!logits.empty());
  if (options.temperature == 0)
    return int32_t(std::max_element(logits.begin(), logits.end()) - logits.begin());

  std::vector<int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto before = [&](int32_t a, int32_t b) {
    const float la = logits[size_t(a)], lb = logits[size_t(b)];
    return la > lb || (la == lb && a < b);
  };
  const size_t kept = options.top_k > 0 ? std::min(ids.size(), size_t(options.top_k)) : ids.size();
  std::partial_sort(ids.begin(), ids.begin() + ptrdiff_t(kept), ids.end(), before);

  std::vector<double> probability(kept);
  const double maximum = logits[size_t(ids[0])];
  double sum = 0;
  for (size_t i = 0; i < kept; ++i) {
    probability[i] = std::exp((double(logits[size_t(ids[i])]) - maximum) / options.temperature);
    sum += probability[i];
  }
  size_t candidates = kept;
  double mass = sum;
  if (options.top_p < 1) {
    mass = 0;
    candidates = 0;
    while (candidates < kept) {
      mass += probability[candidates++];
      if (mass >= options.top_p * sum) break;
    }
  }
  double remaining = uniform * mass;
  for (size_t i = 0; i < candidates; ++i) {
    remaining -= probability[i];
    if (remaining < 0) return ids[i];
  }
  return ids[candidates - 1];  // rounding
}

}  // namespace shoal
