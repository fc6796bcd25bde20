#include <algorithm>
#include <cmath>

#include "ops/reference/elements.h"
#include "ops/reference/kernels.h"

namespace shoal::reference {
namespace {

// Visits a view of any rank through rank-1 rows: f gets the same row of every view.
template <typename F, typename... Views>
void for_each_row(F&& f, const View& first, const Views&... rest) {
  if (first.rank() <= 1) {
    f(first, rest...);
    return;
  }
  const auto row = [](const View& view, int64_t i) {
    View part;
    part.data = static_cast<std::byte*>(view.data) + i * view.stride(0) * size_of(view.dtype);
    part.dtype = view.dtype;
    for (int d = 1; d < view.rank(); ++d) {
      part.shape.append(view.dim(d));
      part.strides[size_t(d - 1)] = view.stride(d);
    }
    return part;
  };
  for (int64_t i = 0; i < first.dim(0); ++i) for_each_row(f, row(first, i), row(rest, i)...);
}

}  // namespace

void add(const View& a, const View& b, const View& out) {
  for_each_row(
      [](const View& x, const View& y, const View& z) {
        for (int64_t i = 0; i < x.dim(0); ++i) Elements(z).set(Elements(x)(i) + Elements(y)(i), i);
      },
      a, b, out);
}

void bias_grad(const View& dy, const View& dbias) {
  for (int64_t j = 0; j < dy.dim(1); ++j) {
    double sum = 0.0;
    for (int64_t i = 0; i < dy.dim(0); ++i) sum += Elements(dy)(i, j);
    Elements(dbias).add(sum, j);
  }
}

void adamw(const AdamwArgs& args) {
  const Elements param(args.param), grad(args.grad), first(args.m), second(args.v), copy(args.copy);
  for (int64_t i = 0; i < args.param.numel(); ++i) {
    const double g = grad(i) * args.gradient_scale;
    const double m = args.beta1 * first(i) + (1.0 - args.beta1) * g;
    double v = args.beta2 * second(i) + (1.0 - args.beta2) * g * g;
    if (args.atan2) v = std::max(v, args.eps * args.eps);
    const double root = std::sqrt(v / args.correction2);
    const double step =
        args.lr / args.correction1 * (args.atan2 ? std::atan2(m, root) : m / (root + args.eps));
    first.set(m, i);
    second.set(v, i);
    param.set(param(i) * (1.0 - args.lr * args.weight_decay) - step, i);
    if (args.copy.defined()) copy.set(param(i), i);
  }
}

double adam_relative_squares(const AdamwArgs& args) {
  const Elements grad(args.grad), second(args.v);
  double sum = 0;
  for (int64_t i = 0; i < args.grad.numel(); ++i) {
    const double g = grad(i) * args.gradient_scale;
    sum += g * g / std::max(args.beta2 * second(i) + (1.0 - args.beta2) * g * g, args.eps * args.eps);
  }
  return sum;
}

double sum_squares(const View& x) {
  double sum = 0.0;
  for_each_row(
      [&](const View& row) {
        for (int64_t i = 0; i < row.dim(0); ++i) sum += Elements(row)(i) * Elements(row)(i);
      },
      x);
  return sum;
}

void scale(const View& x, double factor) {
  for_each_row(
      [&](const View& row) {
        for (int64_t i = 0; i < row.dim(0); ++i) Elements(row).set(Elements(row)(i) * factor, i);
      },
      x);
}

void cast(const View& from, const View& to) {
  for_each_row(
      [](const View& x, const View& y) {
        for (int64_t i = 0; i < x.dim(0); ++i) Elements(y).set(Elements(x)(i), i);
      },
      from, to);
}

void axpby(double a, const View& x, double b, const View& y) {
  for_each_row(
      [&](const View& from, const View& to) {
        for (int64_t i = 0; i < from.dim(0); ++i) {
          const double old = b == 0 ? 0 : b * Elements(to)(i);  // y may hold anything, NaN too, when b is 0
          Elements(to).set(a * Elements(from)(i) + old, i);
        }
      },
      x, y);
}

void symmetrize(const View& x) {
  SHOAL_CHECK(x.rank() == 2 && x.dim(0) == x.dim(1));
  const Elements element(x);
  for (int64_t i = 0; i < x.dim(0); ++i) {
    for (int64_t j = 0; j < i; ++j) {
      const double mean = 0.5 * (element(i, j) + element(j, i));
      element.set(mean, i, j);
      element.set(mean, j, i);
    }
  }
}

void fill(const View& x, double value) {
  for_each_row(
      [&](const View& row) {
        for (int64_t i = 0; i < row.dim(0); ++i) Elements(row).set(value, i);
      },
      x);
}

}  // namespace shoal::reference
