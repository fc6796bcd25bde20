// Jorge beside the method it approximates: Shampoo with exact inverse fourth roots in double precision.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "base/philox.h"
#include "optim/jorge.h"

using namespace shoal;

namespace {

struct Dense {
  size_t rows, columns;
  std::vector<double> at;
  Dense(size_t r, size_t c) : rows(r), columns(c), at(r * c, 0.0) {}
  double& operator()(size_t i, size_t j) { return at[i * columns + j]; }
  double operator()(size_t i, size_t j) const { return at[i * columns + j]; }
};

Dense operator*(const Dense& a, const Dense& b) {
  Dense c(a.rows, b.columns);
  for (size_t i = 0; i < a.rows; ++i)
    for (size_t k = 0; k < a.columns; ++k)
      for (size_t j = 0; j < b.columns; ++j) c(i, j) += a(i, k) * b(k, j);
  return c;
}
Dense transposed(const Dense& a) {
  Dense t(a.columns, a.rows);
  for (size_t i = 0; i < a.rows; ++i)
    for (size_t j = 0; j < a.columns; ++j) t(j, i) = a(i, j);
  return t;
}
double norm(const Dense& a) {
  double sum = 0;
  for (double x : a.at) sum += x * x;
  return std::sqrt(sum);
}
double cosine(const Dense& a, const Dense& b) {
  double dot = 0;
  for (size_t i = 0; i < a.at.size(); ++i) dot += a.at[i] * b.at[i];
  return dot / (norm(a) * norm(b));
}

// A symmetric matrix to a power, through its eigenvalues by Jacobi's rotations.
Dense power(Dense a, double exponent) {
  const size_t n = a.rows;
  Dense v(n, n);
  for (size_t i = 0; i < n; ++i) v(i, i) = 1;
  for (int sweep = 0; sweep < 60; ++sweep) {
    for (size_t p = 0; p < n; ++p) {
      for (size_t q = p + 1; q < n; ++q) {
        const double angle = 0.5 * std::atan2(2 * a(p, q), a(q, q) - a(p, p));
        const double c = std::cos(angle), s = std::sin(angle);
        for (size_t k = 0; k < n; ++k) {
          const double x = a(k, p), y = a(k, q);
          a(k, p) = c * x - s * y;
          a(k, q) = s * x + c * y;
        }
        for (size_t k = 0; k < n; ++k) {
          const double x = a(p, k), y = a(q, k);
          a(p, k) = c * x - s * y;
          a(q, k) = s * x + c * y;
          const double vx = v(k, p), vy = v(k, q);
          v(k, p) = c * vx - s * vy;
          v(k, q) = s * vx + c * vy;
        }
      }
    }
  }
  Dense scaled = v;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) scaled(i, j) *= std::pow(std::max(a(j, j), 1e-30), exponent);
  return scaled * transposed(v);
}

// Shampoo with the decay that Jorge takes: b2 = |X| / (1 + |X|), X = L^-1/2 S L^-1/2.
struct Side {
  Dense statistics;
  Side(size_t n, double epsilon) : statistics(n, n) {
    for (size_t i = 0; i < n; ++i) statistics(i, i) = epsilon;
  }
  void refresh(const Dense& s) {
    const Dense root = power(statistics, -0.5);
    const double size = norm(root * s * root), beta2 = size / (1 + size);
    for (size_t i = 0; i < s.at.size(); ++i) {
      statistics.at[i] = beta2 * statistics.at[i] + (1 - beta2) * s.at[i];
    }
  }
};

struct Shampoo {
  Side left, right;
  Dense momentum, graft;
  Shampoo(size_t rows, size_t columns, double epsilon)
      : left(rows, epsilon), right(columns, epsilon), momentum(rows, columns), graft(rows, columns) {}
  // The step of rate 1, by Jorge's rules with exact roots.
  Dense step(const Dense& g, double b1) {
    left.refresh(g * transposed(g));
    right.refresh(transposed(g) * g);
    const Dense both = power(left.statistics, -0.25) * g * power(right.statistics, -0.25);
    for (size_t i = 0; i < g.at.size(); ++i) {
      momentum.at[i] = b1 * momentum.at[i] + (1 - b1) * both.at[i];
      graft.at[i] = b1 * graft.at[i] + g.at[i];
    }
    Dense result = momentum;
    for (double& x : result.at) x *= norm(graft) / norm(momentum);
    return result;
  }
};

constexpr size_t rows = 8, columns = 6;

// f(W) = |A (W - T) B|^2 / 2 with condition numbers of 30 a side, and noise in the gradient.
struct Problem {
  Dense a{rows, rows}, b{columns, columns}, target{rows, columns};
  Problem() {
    const Philox draws(5, "problem");
    for (size_t i = 0; i < rows; ++i) a(i, i) = std::pow(30.0, -double(i) / double(rows - 1));
    for (size_t i = 0; i < columns; ++i) b(i, i) = std::pow(30.0, -double(i) / double(columns - 1));
    for (size_t i = 0; i < target.at.size(); ++i) target.at[i] = draws.normal(i);
  }
  Dense error(const Dense& w) const {
    Dense off = w;
    for (size_t i = 0; i < off.at.size(); ++i) off.at[i] -= target.at[i];
    return a * off * b;
  }
  double loss(const Dense& w) const { return 0.5 * std::pow(norm(error(w)), 2); }
  Dense gradient(const Dense& w, uint64_t step) const {
    Dense g = transposed(a) * error(w) * transposed(b);
    const Philox noise(step, "noise");
    for (size_t i = 0; i < g.at.size(); ++i) g.at[i] += 1e-3 * noise.normal(i);
    return g;
  }
};

// A registry of one matrix that Jorge or SGD works on.
struct Trained {
  std::unique_ptr<Device> device = make_device("cpu");
  std::unique_ptr<Ops> ops = make_ops(*device);
  Context context = make_local_context(*device, *ops, DType::f32, 1);
  ParameterRegistry registry;
  Parameter* p = nullptr;
  std::unique_ptr<Optimizer> optimizer;
  int64_t updates = 0;

  explicit Trained(const OptimizerSection& section) {
    ParameterSpec spec;
    spec.name = "matrix";
    spec.shape = {int64_t(rows), int64_t(columns)};
    spec.init = InitRule::constant(0);
    spec.matrix = true;
    p = &registry.add(spec);
    registry.materialize(context);
    optimizer = make_optimizer(section, registry, context);
  }
  Dense weight() const {
    Dense w(rows, columns);
    for (size_t i = 0; i < w.at.size(); ++i) w.at[i] = double(p->master.view().as<float>()[i]);
    return w;
  }
  void step(const Dense& gradient, double lr) {
    const View g = grad_to_add(*ops, *p);
    for (size_t i = 0; i < gradient.at.size(); ++i) g.as<float>()[i] = float(gradient.at[i]);
    optimizer->apply(++updates, lr, 1.0);
  }
};

OptimizerSection section_of(const char* name) {
  OptimizerSection section;
  section.name = name;
  section.weight_decay = 0;
  section.jorge.refresh_every = 1;
  section.jorge.eps = 1e-2;
  return section;
}

}  // namespace

// The mean cosine between the steps of Jorge and of exact Shampoo for the same gradients, whose size falls by
// `spread` from the first row to the last, and from the first column to the last.
double agreement(const char* form, double spread) {
  OptimizerSection section = section_of("jorge");
  section.jorge.form = form;
  Trained jorge(section);
  Shampoo shampoo(rows, columns, 1e-2);
  const Philox draws(9, "gradients");
  uint64_t n = 0;
  double mean = 0;
  constexpr int settle = 100, counted = 200;
  for (int step = 0; step < settle + counted; ++step) {
    Dense gradient(rows, columns);
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < columns; ++j) {
        const double scale = std::pow(spread, -double(i) / (rows - 1) - double(j) / (columns - 1));
        gradient(i, j) = scale * draws.normal(n++);
      }
    }
    Dense moved = jorge.weight();
    jorge.step(gradient, 1.0);
    const Dense after = jorge.weight();
    for (size_t i = 0; i < moved.at.size(); ++i) moved.at[i] -= after.at[i];
    const Dense expected = shampoo.step(gradient, 0.9);
    CHECK(norm(moved) == doctest::Approx(norm(expected)).epsilon(1e-3));  // the same graft
    if (step >= settle) mean += cosine(moved, expected) / counted;
  }
  return mean;
}

TEST_CASE("jorge's steps point where exact Shampoo's do, for the same gradients") {
  for (double spread : {1.0, 3.0, 10.0, 30.0}) {
    CAPTURE(spread);
    CHECK(agreement("symmetric", spread) > 0.99);
  }
  CHECK(agreement("published", 1.0) > 0.99);
  CHECK(agreement("published", 3.0) > 0.99);
}

// Why the symmetric form is the default: this is what it is there to prevent.
TEST_CASE(
    "jorge's published product loses Shampoo's direction where gradients differ tenfold between directions") {
  CHECK(agreement("published", 10.0) < 0.5);
}

TEST_CASE("jorge solves an ill-conditioned problem as exact Shampoo does, and faster than SGD") {
  const Problem problem;
  Trained jorge(section_of("jorge")), sgd(section_of("sgd"));
  Shampoo shampoo(rows, columns, 1e-2);
  Dense exact(rows, columns);
  const double begin = problem.loss(exact), lr = 0.1;
  for (uint64_t step = 1; step <= 150; ++step) {
    jorge.step(problem.gradient(jorge.weight(), step), lr);
    sgd.step(problem.gradient(sgd.weight(), step), lr);
    const Dense move = shampoo.step(problem.gradient(exact, step), 0.9);
    for (size_t i = 0; i < exact.at.size(); ++i) exact.at[i] -= lr * move.at[i];
  }
  const double by_jorge = problem.loss(jorge.weight()), by_sgd = problem.loss(sgd.weight()),
               by_shampoo = problem.loss(exact);
  MESSAGE("of a loss of ", begin, " remain: Jorge ", by_jorge, ", exact Shampoo ", by_shampoo, ", SGD ",
          by_sgd);
  CHECK(by_jorge < 0.8 * by_sgd);
  CHECK(by_jorge == doctest::Approx(by_shampoo).epsilon(0.3));
}
