// The objective of a parametric law and its gradient, on points laid out for vector code.
#pragma once

#include <vector>

#include "laws/parametric.h"

namespace shoal {

// Parameters in the order e_1 .. e_n, c_1 .. c_n, E.
class LawObjective {
 public:
  LawObjective(const std::vector<LawPoint>& points, const std::vector<LawTerm>& terms, double delta,
               const std::vector<double>& weights);

  size_t dimensions() const { return 2 * terms_ + 1; }
  size_t num_terms() const { return terms_; }
  // Mean of log x_j over the points.
  double mean_log(size_t term) const { return means_[term]; }

  // The objective divided by delta^2 (the raw one is about 1e-4, where absolute stopping rules stop too
  // early). The gradient may be null.
  double scaled(const double* parameters, double* gradient) const;

 private:
  size_t terms_, count_;
  double delta_;
  std::vector<double> log_x_;  // [terms][count]
  std::vector<double> log_loss_, weights_, means_;
};

}  // namespace shoal
