#include "laws/parametric_objective.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"

namespace shoal {
namespace {

constexpr size_t max_terms = 4;
constexpr size_t block = 64;

// exp(x) for x <= 0, to about 1 ulp: 2^k * exp(r), |r| <= ln(2)/2, exp(r) by its series to the 11th power.
// Written without branches or calls, so that the compiler makes vector code of the loop around it.
inline double exp_nonpositive(double x) {
  x = std::max(x, -700.0);
  const double k = std::floor(x * 1.4426950408889634 + 0.5);
  const double r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
  double p = 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1;
  p = p * r + 1;
  const auto bits = static_cast<uint64_t>(static_cast<int64_t>(k) + 1023) << 52;
  return p * std::bit_cast<double>(bits);
}

}  // namespace

LawObjective::LawObjective(const std::vector<LawPoint>& points, const std::vector<LawTerm>& terms,
                           double delta, const std::vector<double>& weights)
    : terms_(terms.size()), count_(points.size()), delta_(delta), weights_(weights) {
  SHOAL_CHECK(terms_ > 0 && terms_ <= max_terms);
  if (weights_.empty()) weights_.assign(count_, 1.0);
  for (LawTerm term : terms) {
    double sum = 0;
    for (const LawPoint& p : points) {
      log_x_.push_back(std::log(value_of(p, term)));
      sum += log_x_.back();
    }
    means_.push_back(sum / double(count_));
  }
  for (const LawPoint& p : points) log_loss_.push_back(std::log(p.loss));
}

double LawObjective::scaled(const double* parameters, double* gradient) const {
  const double* e = parameters;
  const double* c = parameters + terms_;
  const double irreducible = parameters[2 * terms_];
  if (gradient) std::fill(gradient, gradient + dimensions(), 0.0);
  double total = 0;
  for (size_t first = 0; first < count_; first += block) {
    const size_t n = std::min(block, count_ - first);
    double share[max_terms][block], top[block], sum[block], slope[block];
    std::fill(top, top + n, irreducible);
    for (size_t j = 0; j < terms_; ++j) {
      const double* x = log_x_.data() + j * count_ + first;
      for (size_t i = 0; i < n; ++i) {
        share[j][i] = c[j] - e[j] * x[i];
        top[i] = std::max(top[i], share[j][i]);
      }
    }
    for (size_t i = 0; i < n; ++i) sum[i] = exp_nonpositive(irreducible - top[i]);
    for (size_t j = 0; j < terms_; ++j) {
      for (size_t i = 0; i < n; ++i) sum[i] += share[j][i] = exp_nonpositive(share[j][i] - top[i]);
    }
    for (size_t i = 0; i < n; ++i) {
      const double r = (log_loss_[first + i] - top[i] - std::log(sum[i])) / delta_;
      const double w = weights_[first + i];
      const double clipped = std::clamp(r, -1.0, 1.0);
      total += w * clipped * (r - 0.5 * clipped);
      slope[i] = w * clipped / (delta_ * sum[i]);  // d objective / d LSE, negated, over the normaliser
    }
    if (!gradient) continue;
    for (size_t j = 0; j < terms_; ++j) {
      const double* x = log_x_.data() + j * count_ + first;
      double by_e = 0, by_c = 0;
      for (size_t i = 0; i < n; ++i) {
        const double g = slope[i] * share[j][i];
        by_c -= g;
        by_e += g * x[i];
      }
      gradient[j] += by_e;
      gradient[terms_ + j] += by_c;
    }
    for (size_t i = 0; i < n; ++i) gradient[2 * terms_] -= slope[i] * exp_nonpositive(irreducible - top[i]);
  }
  return total;
}

}  // namespace shoal
