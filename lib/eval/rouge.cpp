#include "eval/rouge.h"

#include <algorithm>
#include <vector>

namespace shoal {

double rouge_l(std::span<const int32_t> reference, std::span<const int32_t> candidate) {
  // longest[j]: of the part of the reference so far and the first j tokens of the candidate.
  std::vector<int64_t> longest(candidate.size() + 1, 0);
  for (const int32_t token : reference) {
    int64_t diagonal = 0;
    for (size_t j = 1; j <= candidate.size(); ++j) {
      const int64_t above = longest[j];
      longest[j] = token == candidate[j - 1] ? diagonal + 1 : std::max(above, longest[j - 1]);
      diagonal = above;
    }
  }
  const auto common = double(longest.back());
  if (common == 0) return 0;
  const double recall = common / double(reference.size()), precision = common / double(candidate.size());
  return 2 * recall * precision / (recall + precision);
}

}  // namespace shoal
