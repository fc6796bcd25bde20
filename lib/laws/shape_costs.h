// What a shape costs: parameters and FLOPs a token as smooth functions of width and depth, learnt from the
// shapes at hand, so that a prescription can look between and beyond them.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "laws/flops.h"
#include "laws/points.h"

namespace shoal {

// c0 depth width^2 + c1 depth width + c2 width: a transformer's matrices, its attention (or norms), its
// embeddings and head.
struct ShapePolynomial {
  std::array<double, 3> coefficients{};
  double worst_error = 0;  // largest relative error over the shapes it was made from

  double operator()(double width, double depth) const {
    return coefficients[0] * depth * width * width + coefficients[1] * depth * width +
           coefficients[2] * width;
  }
};

class ShapeCosts {
 public:
  // By least squares of relative errors with coefficients of at least 0. Nothing if a point lacks width,
  // depth or FLOPs, or if the shapes do not tell width and depth apart.
  static std::optional<ShapeCosts> of(const std::vector<LawPoint>& points);

  double params(double width, double depth) const { return params_(width, depth); }
  double flops_per_token(double width, double depth) const { return flops_(width, depth); }
  double worst_error() const;
  // What all widths are a multiple of.
  double width_step() const { return width_step_; }

 private:
  ShapePolynomial params_, flops_;
  double width_step_ = 1;
};

// FLOPs a token as scale * params^power, by least squares in logs over the points; exactly 6 and 1 where
// every point has 6 FLOPs a parameter and token.
struct TokenCost {
  double scale = 6, power = 1;
};
TokenCost token_cost(const std::vector<LawPoint>& points);

}  // namespace shoal
