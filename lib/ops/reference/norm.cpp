#include <cmath>

#include "ops/reference/elements.h"
#include "ops/reference/kernels.h"

namespace shoal::reference {
namespace {

// With a residual, what is normalised is the sum as it was stored, because that is what the backward will
// see.
void store_residual_sum(const NormArgs& args) {
  const Elements x(args.x), residual(args.residual), sum(args.sum);
  for_each_element(args.x, [&](int64_t i, int64_t j) { sum.set(x(i, j) + residual(i, j), i, j); });
}

void norm(const NormArgs& args, bool centred) {
  if (args.residual.defined()) store_residual_sum(args);
  const Elements x(args.residual.defined() ? args.sum : args.x), weight(args.weight), bias(args.bias),
      y(args.y);
  const Elements mean_out(args.mean), rstd_out(args.rstd);
  const int64_t rows = args.x.dim(0), hidden = args.x.dim(1);
  for (int64_t i = 0; i < rows; ++i) {
    double mean = 0.0;
    if (centred) {
      for (int64_t j = 0; j < hidden; ++j) mean += x(i, j);
      mean /= double(hidden);
    }
    double variance = 0.0;
    for (int64_t j = 0; j < hidden; ++j) variance += (x(i, j) - mean) * (x(i, j) - mean);
    variance /= double(hidden);
    const double rstd = 1.0 / std::sqrt(variance + double(args.eps));
    for (int64_t j = 0; j < hidden; ++j) {
      const double gain = weight(j) + (args.unit_offset ? 1.0 : 0.0);
      y.set((x(i, j) - mean) * rstd * gain + (args.bias.defined() ? bias(j) : 0.0), i, j);
    }
    if (args.mean.defined()) mean_out.set(mean, i);
    if (args.rstd.defined()) rstd_out.set(rstd, i);
  }
}

void norm_grad(const NormGradArgs& args, bool centred) {
  const Elements x(args.x), weight(args.weight), mean(args.mean), rstd(args.rstd), dy(args.dy), dx(args.dx);
  const Elements dweight(args.dweight), dbias(args.dbias);
  const int64_t rows = args.x.dim(0), hidden = args.x.dim(1);
  const auto normalised = [&](int64_t i, int64_t j) {
    return (x(i, j) - (centred ? mean(i) : 0.0)) * rstd(i);
  };
  const auto gain = [&](int64_t j) { return weight(j) + (args.unit_offset ? 1.0 : 0.0); };
  for (int64_t j = 0; j < hidden; ++j) {
    double weight_sum = 0.0, bias_sum = 0.0;
    for (int64_t i = 0; i < rows; ++i) {
      weight_sum += dy(i, j) * normalised(i, j);
      bias_sum += dy(i, j);
    }
    if (args.dweight.defined()) dweight.add(weight_sum, j);
    if (args.dbias.defined()) dbias.add(bias_sum, j);
  }
  for (int64_t i = 0; i < rows; ++i) {
    double plain = 0.0, projected = 0.0;  // means of g and of g * normalised, with g = dy * gain
    for (int64_t j = 0; j < hidden; ++j) {
      if (centred) plain += dy(i, j) * gain(j) / double(hidden);
      projected += dy(i, j) * gain(j) * normalised(i, j) / double(hidden);
    }
    for (int64_t j = 0; j < hidden; ++j) {
      const double gradient = rstd(i) * (dy(i, j) * gain(j) - plain - normalised(i, j) * projected);
      dx.set(gradient + (args.accumulate_dx ? dx(i, j) : 0.0), i, j);
    }
  }
}

}  // namespace

void layernorm(const NormArgs& args) {
  norm(args, true);
}
void layernorm_grad(const NormGradArgs& args) {
  norm_grad(args, true);
}
void rmsnorm(const NormArgs& args) {
  norm(args, false);
}
void rmsnorm_grad(const NormGradArgs& args) {
  norm_grad(args, false);
}

}  // namespace shoal::reference
