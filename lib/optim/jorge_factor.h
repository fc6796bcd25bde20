// One side of Jorge's preconditioner (Singh et al. 2023, arXiv 2310.12298): an approximation of the inverse
// fourth root of Shampoo's gradient statistics that is carried along by matrix products alone.
#pragma once

#include "device/device.h"
#include "ops/ops.h"

namespace shoal {

enum class JorgeSide { left, right };

// How a refresh joins the factor F with the statistics S. Both have the same eigenvalues, cost the same and
// agree where F and S commute. The published product is not symmetric: where gradients differ by a factor of
// ten or more between directions, its factor loses positive eigenvalues and no longer points downhill, while
// the symmetric one stays within 1 % of the direction of exact Shampoo (tests/optim/test_shampoo.cpp).
enum class JorgeForm { symmetric, published };

// Memory for refreshes, shared by all factors; grows to the largest.
class JorgeWorkspace {
 public:
  explicit JorgeWorkspace(Device& device) : device_(device) {}
  // A [n, n] f32 matrix; index 0, 1, 2 are different ones.
  View square(int index, int64_t n);

 private:
  Device& device_;
  Tensor squares_[3];
};

// Sets a factor [n, n] to epsilon^(-1/4) I.
void jorge_start(Ops& ops, const View& factor, double epsilon);

// One refresh of a factor F [n, n] (symmetric, f32) with a gradient G [rows, columns] f32, n = rows on the
// left and columns on the right. With S = G G^T (left) or G^T G (right) and X = F^2 S F^2, or F^4 S as
// published:
//   F <- ((1 + |X|)/|X|)^(1/4) F (I - X/(4 |X|) + 5 X^2/(32 |X|^2)), symmetrised,
// |X| the Frobenius norm. That is the binomial series of L^(-1/4) to second order with beta2 = |X|/(1 + |X|)
// chosen so that it converges. A gradient of zeros leaves F as it is. Costs 5 n^3 + n^2 (other side)
// multiply-adds.
void jorge_refresh(Ops& ops, JorgeWorkspace& workspace, const View& factor, const View& gradient,
                   JorgeSide side, JorgeForm form = JorgeForm::symmetric);

}  // namespace shoal
