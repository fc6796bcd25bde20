#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "base/philox.h"
#include "optim/jorge.h"

using namespace shoal;

namespace {

// Dense matrices in double, for the rules written out once more.
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
Dense identity(size_t n, double value) {
  Dense d(n, n);
  for (size_t i = 0; i < n; ++i) d(i, i) = value;
  return d;
}
double norm(const Dense& a) {
  double sum = 0;
  for (double x : a.at) sum += x * x;
  return std::sqrt(sum);
}

void refresh(Dense& factor, const Dense& statistics, bool published) {
  const Dense twice = factor * factor;
  const Dense x = published ? twice * twice * statistics : twice * statistics * twice;
  const double size = norm(x);
  const Dense squared = x * x;
  Dense bracket = identity(factor.rows, 1.0);
  for (size_t i = 0; i < bracket.at.size(); ++i) {
    bracket.at[i] += -x.at[i] / (4 * size) + 5 * squared.at[i] / (32 * size * size);
  }
  Dense next = factor * bracket;
  const Dense flipped = transposed(next);
  const double beta2 = size / (1 + size);
  for (size_t i = 0; i < next.at.size(); ++i) {
    factor.at[i] = std::pow(beta2, -0.25) * 0.5 * (next.at[i] + flipped.at[i]);
  }
}

Dense part(const Dense& a, size_t row, size_t rows, size_t column, size_t columns) {
  Dense p(rows, columns);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) p(i, j) = a(row + i, column + j);
  return p;
}

}  // namespace

TEST_CASE("jorge follows its rules in double precision, in uneven blocks, with either graft") {
  auto device = make_device("cpu");
  auto ops = make_ops(*device);
  Context context = make_local_context(*device, *ops, DType::f32, 1);
  for (const auto& [graft, form] :
       {std::pair{"sgd", "symmetric"}, {"adam", "symmetric"}, {"sgd", "published"}}) {
    const bool published = std::string(form) == "published";
    ParameterRegistry registry;
    ParameterSpec spec;
    spec.name = "matrix";
    spec.shape = {7, 2, 2};  // rows 7, columns 4
    spec.init = InitRule::normal(0.5);
    spec.decay = spec.matrix = true;
    Parameter& p = registry.add(spec);
    registry.materialize(context);
    OptimizerSection section;
    section.jorge = {.refresh_every = 3, .block_size = 4, .graft = graft, .eps = 1e-3, .form = form};
    section.momentum = 0.8;
    Jorge jorge(section, {&p}, *ops);

    // 7 rows are a block of 4 and one of 3; 4 columns are one block.
    const size_t first[] = {0, 4}, size[] = {4, 3};
    std::vector<Dense> left, right;
    for (size_t n : size) {
      left.push_back(identity(n, std::pow(1e-3, -0.25)));
      right.push_back(identity(4, std::pow(1e-3, -0.25)));
    }
    Dense weight(7, 4), momentum(7, 4), m(7, 4), v(7, 4);
    for (size_t i = 0; i < 28; ++i) weight.at[i] = double(p.master.view().as<float>()[i]);

    for (int update = 1; update <= 25; ++update) {
      Dense gradient(7, 4);
      const Philox draws(uint64_t(update), "jorge");
      for (size_t i = 0; i < 28; ++i) {
        const auto g = float(draws.normal(i));
        grad_to_add(*ops, p).view().as<float>()[i] = g;
        gradient.at[i] = double(g);
      }
      const double lr = 0.01, scale = 0.7;
      jorge.apply(update, lr, scale);

      for (size_t b = 0; b < 2; ++b) {
        const Dense g = part(gradient, first[b], size[b], 0, 4);
        if (update % 3 == 1) {
          refresh(left[b], g * transposed(g), published);
          refresh(right[b], transposed(g) * g, published);
        }
        const Dense both = left[b] * g * right[b];
        for (size_t i = 0; i < size[b]; ++i)
          for (size_t j = 0; j < 4; ++j) {
            double& at = momentum(first[b] + i, j);
            at = 0.8 * at + 0.2 * scale * both(i, j);
          }
      }
      Dense step(7, 4);
      for (size_t i = 0; i < 28; ++i) {
        const double g = scale * gradient.at[i];
        if (std::string(graft) == "sgd") {
          step.at[i] = m.at[i] = 0.8 * m.at[i] + g;
        } else {
          m.at[i] = 0.9 * m.at[i] + 0.1 * g;
          v.at[i] = 0.95 * v.at[i] + 0.05 * g * g;
          step.at[i] = m.at[i] / (1 - std::pow(0.9, update)) /
                       (std::sqrt(v.at[i] / (1 - std::pow(0.95, update))) + 1e-8);
        }
      }
      const double ratio = norm(step) / norm(momentum);
      for (size_t i = 0; i < 28; ++i) {
        weight.at[i] = weight.at[i] * (1 - lr * section.weight_decay) - lr * ratio * momentum.at[i];
        REQUIRE(double(p.master.view().as<float>()[i]) == doctest::Approx(weight.at[i]).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("jorge leaves vocabulary matrices and vectors to adamw, and names its state") {
  auto device = make_device("cpu");
  auto ops = make_ops(*device);
  Context context = make_local_context(*device, *ops, DType::f32, 1);
  ParameterRegistry registry;
  ParameterSpec table, bias;
  table.name = "embedding.weight";
  table.shape = {8, 4};
  table.matrix = table.vocabulary = true;
  bias.name = "bias";
  bias.shape = {4};
  std::vector<Parameter*> all{&registry.add(table), &registry.add(bias)};
  registry.materialize(context);
  Jorge jorge({}, all, *ops);
  std::vector<std::string> names;
  for (const auto& tensor : jorge.state()) names.push_back(tensor.name);
  CHECK(names == std::vector<std::string>{"optimizer/m/embedding.weight", "optimizer/v/embedding.weight",
                                          "optimizer/m/bias", "optimizer/v/bias"});
}
