// What a fitted law advises for a budget of training FLOPs.
#pragma once

#include <optional>

#include "laws/parametric.h"
#include "laws/shape_costs.h"

namespace shoal {

struct Prescription {
  double flops = 0, params = 0, tokens = 0;
  double width = 0, depth = 0;  // 0: the law does not speak of shapes
  double loss = 0;              // as the law predicts it; 0: it does not
  bool at_border = false;       // the search ended at a limit of what it looks at: there is no optimum inside
};

// The compute-optimal split of C FLOPs of a (params, tokens) law in closed form, for C = scale N^power D. The
// default is C = 6 N D (Hoffmann et al. 2022, equation 4). Throws UserError for other terms, and for
// exponents that are not above zero.
struct Allocation {
  double params = 0, tokens = 0;
};
Allocation optimal_allocation(const ParametricLaw& law, double flops, const TokenCost& cost = {});

// The least loss for C FLOPs. A (params, tokens) law uses the closed form; one with width or depth searches
// widths from a quarter of to 64 times those of the points and depths from 1 to 16 * width, tokens following
// from the budget, then rounds to a multiple of the width step and a whole depth. Nothing where the law
// lacks an optimum, or where shapes are needed and costs are not known.
struct ShapeRange {
  double narrowest = 0, widest = 0;
};
std::optional<Prescription> prescribe(const ParametricLaw& law, double flops, const TokenCost& cost,
                                      const ShapeCosts* shapes, const ShapeRange& range);

// The loss that a law predicts for a shape trained with C FLOPs.
double loss_at_budget(const ParametricLaw& law, const ShapeCosts& shapes, double flops, double width,
                      double depth);

}  // namespace shoal
