#include "data/split.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"

namespace shoal {

std::array<int64_t, 4> split_ranges(const std::string& split, int64_t size) {
  const auto fail = [&] {
    throw UserError(Problem{"is no split", "data.split", split, "up to three shares, like 969,30,1", ""});
  };
  std::array<double, 3> shares{};
  const char separator = split.find(',') != std::string::npos ? ',' : '/';
  size_t count = 0;
  for (size_t from = 0; from <= split.size(); ++count) {
    const size_t to = std::min(split.find(separator, from), split.size());
    double share = -1;
    const auto first = split.find_first_not_of(' ', from);
    const auto result = std::from_chars(split.data() + std::min(first, to), split.data() + to, share);
    const bool rest_is_blank = std::all_of(result.ptr, split.data() + to, [](char c) { return c == ' '; });
    if (count >= 3 || result.ec != std::errc{} || !rest_is_blank || !(share >= 0) || !std::isfinite(share))
      fail();
    shares[count] = share;
    from = to + 1;
  }
  const double sum = shares[0] + shares[1] + shares[2];
  if (!(sum > 0)) fail();
  std::array<int64_t, 4> ends{};
  for (size_t i = 0; i < 3; ++i) {
    ends[i + 1] = ends[i] + int64_t(std::nearbyint(shares[i] / sum * double(size)));
  }
  const int64_t difference = ends[3] - size;
  for (size_t i = 1; i < 4; ++i) ends[i] = std::max<int64_t>(ends[i] - difference, 0);
  return ends;
}

}  // namespace shoal
