#include <cmath>

#include "ops/reference/elements.h"
#include "ops/reference/kernels.h"

namespace shoal::reference {
namespace {

// A norm's rows as its gradient sees them.
struct GradRows {
  explicit GradRows(const NormGradArgs& args)
      : centred(args.mean.defined()),
        unit_offset(args.unit_offset),
        x(args.x),
        weight(args.weight),
        mean(args.mean),
        rstd(args.rstd),
        dy(args.dy) {}
  double normalised(int64_t i, int64_t j) const { return (x(i, j) - (centred ? mean(i) : 0.0)) * rstd(i); }
  double g(int64_t i, int64_t j) const { return dy(i, j) * (weight(j) + (unit_offset ? 1.0 : 0.0)); }

  bool centred, unit_offset;
  Elements x, weight, mean, rstd, dy;
};

}  // namespace

void norm_stats(const NormStatsArgs& args) {
  const Elements x(args.x), residual(args.residual), sum(args.sum), stats(args.stats);
  const bool added = args.residual.defined();
  const int64_t columns = args.x.dim(1);
  for (int64_t i = 0; i < args.x.dim(0); ++i) {
    for (int64_t j = 0; added && j < columns; ++j) sum.set(x(i, j) + residual(i, j), i, j);
    const Elements& values = added ? sum : x;
    double mean = 0.0, squares = 0.0;
    for (int64_t j = 0; args.centred && j < columns; ++j) mean += values(i, j) / double(columns);
    for (int64_t j = 0; j < columns; ++j) squares += (values(i, j) - mean) * (values(i, j) - mean);
    stats.set(mean, i, int64_t{0});
    stats.set(squares, i, int64_t{1});
  }
}

void norm_combine(const NormCombineArgs& args) {
  const Elements parts(args.parts), mean_out(args.mean), rstd_out(args.rstd);
  for (int64_t i = 0; i < args.parts.dim(1); ++i) {
    double columns = 0.0, total = 0.0, squares = 0.0;
    for (int64_t p = 0; p < args.parts.dim(0); ++p) {
      columns += double(args.columns[size_t(p)]);
      total += double(args.columns[size_t(p)]) * parts(p, i, 0);
    }
    const double mean = total / columns;
    for (int64_t p = 0; p < args.parts.dim(0); ++p) {
      const double delta = parts(p, i, 0) - mean;
      squares += parts(p, i, 1) + double(args.columns[size_t(p)]) * delta * delta;
    }
    if (args.mean.defined()) mean_out.set(mean, i);
    rstd_out.set(1.0 / std::sqrt(squares / columns + double(args.eps)), i);
  }
}

void norm_apply(const NormArgs& args) {
  const Elements x(args.x), weight(args.weight), bias(args.bias), mean(args.mean), rstd(args.rstd), y(args.y);
  for_each_element(args.x, [&](int64_t i, int64_t j) {
    const double normalised = (x(i, j) - (args.mean.defined() ? mean(i) : 0.0)) * rstd(i);
    y.set(normalised * (weight(j) + (args.unit_offset ? 1.0 : 0.0)) + (args.bias.defined() ? bias(j) : 0.0),
          i, j);
  });
}

void norm_grad_sums(const NormGradArgs& args) {
  const GradRows rows(args);
  const Elements dweight(args.dweight), dbias(args.dbias), sums(args.sums);
  for (int64_t i = 0; i < args.x.dim(0); ++i) {
    double plain = 0.0, projected = 0.0;
    for (int64_t j = 0; j < args.x.dim(1); ++j) {
      plain += rows.g(i, j);
      projected += rows.g(i, j) * rows.normalised(i, j);
    }
    sums.set(plain, i, int64_t{0});
    sums.set(projected, i, int64_t{1});
  }
  for (int64_t j = 0; j < args.x.dim(1); ++j) {
    double weight_sum = 0.0, bias_sum = 0.0;
    for (int64_t i = 0; i < args.x.dim(0); ++i) {
      weight_sum += rows.dy(i, j) * rows.normalised(i, j);
      bias_sum += rows.dy(i, j);
    }
    if (args.dweight.defined()) dweight.add(weight_sum, j);
    if (args.dbias.defined()) dbias.add(bias_sum, j);
  }
}

void norm_grad_apply(const NormGradArgs& args) {
  const GradRows rows(args);
  const Elements sums(args.sums), dx(args.dx);
  const double columns = double(args.all_columns);
  for_each_element(args.x, [&](int64_t i, int64_t j) {
    const double plain = rows.centred ? sums(i, int64_t{0}) / columns : 0.0;
    const double projected = sums(i, int64_t{1}) / columns;
    const double gradient = rows.rstd(i) * (rows.g(i, j) - plain - rows.normalised(i, j) * projected);
    dx.set(gradient + (args.accumulate_dx ? dx(i, j) : 0.0), i, j);
  });
}

}  // namespace shoal::reference
