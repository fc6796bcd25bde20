#include "data/split.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"

namespace shoal {

namespace {

std::array<double, 3> normalized_shares(const std::string& split) {
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
  for (double& share : shares) share /= sum;
  return shares;
}

}  // namespace

std::array<int64_t, 4> split_ranges(const std::string& split, int64_t size) {
  const auto shares = normalized_shares(split);
  std::array<int64_t, 4> ends{};
  for (size_t i = 0; i < 3; ++i) {
    ends[i + 1] = ends[i] + int64_t(std::nearbyint(shares[i] * double(size)));
  }
  const int64_t difference = ends[3] - size;
  for (size_t i = 1; i < 4; ++i) ends[i] = std::max<int64_t>(ends[i] - difference, 0);
  return ends;
}

std::array<int64_t, 4> split_ranges_megatron(const std::string& split, int64_t size) {
  const auto shares = normalized_shares(split);
  std::array<int64_t, 4> ends{};
  double sum = 0;
  for (size_t i = 0; i < 3; ++i) {
    sum += shares[i];
    ends[i + 1] = int64_t(std::nearbyint(sum * double(size)));
  }
  return ends;
}

}  // namespace shoal
