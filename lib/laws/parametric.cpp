#include "laws/parametric.h"

#include <lbfgs.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/philox.h"
#include "laws/parametric_objective.h"

namespace shoal {
namespace {

// L-BFGS runs in centred coordinates: b_j = c_j - e_j * mean(log x_j) in place of c_j. Exponent and
// coefficient of a term are almost the same direction otherwise, and the valley is too narrow to follow.
struct Centred {
  const LawObjective& objective;

  void to_law(const double* centred, double* law) const {
    const size_t n = objective.num_terms();
    for (size_t j = 0; j < n; ++j) {
      law[j] = centred[j];
      law[n + j] = centred[n + j] + centred[j] * objective.mean_log(j);
    }
    law[2 * n] = centred[2 * n];
  }
  void from_law(const double* law, double* centred) const {
    const size_t n = objective.num_terms();
    for (size_t j = 0; j < n; ++j) {
      centred[j] = law[j];
      centred[n + j] = law[n + j] - law[j] * objective.mean_log(j);
    }
    centred[2 * n] = law[2 * n];
  }
  double operator()(const double* centred, double* gradient) const {
    double law[9];
    to_law(centred, law);
    const double value = objective.scaled(law, gradient);
    for (size_t j = 0; j < objective.num_terms(); ++j) {
      gradient[j] += gradient[objective.num_terms() + j] * objective.mean_log(j);
    }
    return value;
  }
};

struct Minimum {
  std::vector<double> at;  // centred
  double value = std::numeric_limits<double>::infinity();
};

Minimum minimise(const Centred& function, std::vector<double> start, int iterations) {
  lbfgs_parameter_t options;
  lbfgs_parameter_init(&options);
  options.m = 12;
  options.epsilon = 1e-12;
  options.past = 8;
  options.delta = 1e-13;
  options.max_iterations = iterations;
  options.max_linesearch = 60;
  auto evaluate = [](void* self, const double* x, double* g, int, double) {
    return (*static_cast<const Centred*>(self))(x, g);
  };
  Minimum best{std::move(start), 0};
  double value = 0;
  // The returned status says which rule stopped it; a failed line search
  // leaves the best point found, which counts.
  lbfgs(int(best.at.size()), best.at.data(), &value, evaluate, nullptr, const_cast<Centred*>(&function),
        &options);
  std::vector<double> gradient(best.at.size());
  best.value = function(best.at.data(), gradient.data());
  if (!std::isfinite(best.value)) best.value = std::numeric_limits<double>::infinity();
  return best;
}

// Restarts forget L-BFGS's memory, which helps at the kinks of the Huber function.
Minimum polish(const Centred& function, Minimum best) {
  for (int round = 0; round < 30; ++round) {
    Minimum next = minimise(function, best.at, 2000);
    const bool better = next.value < best.value * (1 - 1e-12);
    if (next.value <= best.value) best = std::move(next);
    if (!better) break;
  }
  return best;
}

ParametricLaw to_law(const Centred& function, const Minimum& minimum, const std::vector<LawTerm>& terms,
                     double delta) {
  std::vector<double> p(minimum.at.size());
  function.to_law(minimum.at.data(), p.data());
  const auto n = static_cast<std::ptrdiff_t>(terms.size());
  return {terms,
          {p.begin(), p.begin() + n},
          {p.begin() + n, p.begin() + 2 * n},
          p.back(),
          minimum.value * delta * delta};
}

std::vector<double> parameters_of(const ParametricLaw& law) {
  std::vector<double> p = law.exponents;
  p.insert(p.end(), law.coefficients.begin(), law.coefficients.end());
  p.push_back(law.irreducible);
  return p;
}

// Combinations of the start values, in law coordinates: all of them, or max_starts drawn from the grid.
std::vector<std::vector<double>> starts(size_t terms, const FitOptions& options) {
  std::vector<const std::vector<double>*> axes(terms, &options.exponent_starts);
  axes.insert(axes.end(), terms, &options.coefficient_starts);
  axes.push_back(&options.irreducible_starts);
  uint64_t combinations = 1;
  for (const auto* axis : axes) combinations *= axis->size();
  const bool all = combinations <= options.max_starts;
  const Philox random(0, "starts of a fit");
  std::vector<std::vector<double>> grid(all ? combinations : options.max_starts);
  for (uint64_t i = 0; i < grid.size(); ++i) {
    uint64_t rest = all ? i : random.bits(i) % combinations;
    for (const auto* axis : axes) {
      grid[i].push_back((*axis)[rest % axis->size()]);
      rest /= axis->size();
    }
  }
  return grid;
}

}  // namespace

std::string name_of(LawTerm term) {
  switch (term) {
    case LawTerm::width:
      return "width";
    case LawTerm::depth:
      return "depth";
    case LawTerm::params:
      return "params";
    case LawTerm::tokens:
      return "tokens";
  }
  return "";
}

double value_of(const LawPoint& point, LawTerm term) {
  switch (term) {
    case LawTerm::width:
      return point.width;
    case LawTerm::depth:
      return point.depth;
    case LawTerm::params:
      return point.params;
    case LawTerm::tokens:
      return point.tokens;
  }
  return 0;
}

double ParametricLaw::loss(const LawPoint& point) const {
  double sum = std::exp(irreducible);
  for (size_t j = 0; j < terms.size(); ++j) {
    sum += std::exp(coefficients[j] - exponents[j] * std::log(value_of(point, terms[j])));
  }
  return sum;
}

double law_objective(const ParametricLaw& law, const std::vector<LawPoint>& points, double delta,
                     const std::vector<double>& weights) {
  const LawObjective objective(points, law.terms, delta, weights);
  return objective.scaled(parameters_of(law).data(), nullptr) * delta * delta;
}

ParametricLaw fit_law(const std::vector<LawPoint>& points, const std::vector<LawTerm>& terms,
                      const FitOptions& options, FitSearch* search) {
  if (const auto problem = why_unidentifiable(points, terms)) throw UserError(*problem);
  const LawObjective objective(points, terms, options.delta, {});
  const Centred function{objective};
  const auto grid = starts(terms.size(), options);
  std::vector<Minimum> found(grid.size());
#pragma omp parallel for schedule(dynamic, 16)
  for (size_t i = 0; i < grid.size(); ++i) {
    std::vector<double> centred(grid[i].size());
    function.from_law(grid[i].data(), centred.data());
    found[i] = minimise(function, std::move(centred), 300);
  }
  // The best few are followed to the end: a start that is behind by then is in another valley.
  const size_t finalists = std::min<size_t>(24, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(finalists), found.end(),
                    [](const Minimum& a, const Minimum& b) { return a.value < b.value; });
#pragma omp parallel for schedule(dynamic, 1)
  for (size_t i = 0; i < finalists; ++i) found[i] = polish(function, found[i]);
  const auto best = std::min_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(finalists),
                                     [](const Minimum& a, const Minimum& b) { return a.value < b.value; });
  if (!std::isfinite(best->value)) runtime_failure("no start of the fit reached a finite objective");
  if (search != nullptr) {
    const auto agrees = [&](const Minimum& m) { return m.value <= best->value * (1 + 1e-6); };
    *search = {grid.size(), finalists,
               size_t(std::count_if(found.begin(), found.begin() + std::ptrdiff_t(finalists), agrees))};
  }
  return to_law(function, *best, terms, options.delta);
}

ParametricLaw refine_law(const ParametricLaw& start, const std::vector<LawPoint>& points, double delta,
                         const std::vector<double>& weights) {
  const LawObjective objective(points, start.terms, delta, weights);
  const Centred function{objective};
  Minimum minimum{std::vector<double>(objective.dimensions()), std::numeric_limits<double>::infinity()};
  function.from_law(parameters_of(start).data(), minimum.at.data());
  return to_law(function, polish(function, std::move(minimum)), start.terms, delta);
}

LawBootstrap bootstrap_law(const ParametricLaw& law, const std::vector<LawPoint>& points, double delta,
                           int count, uint64_t seed, Resample unit) {
  LawBootstrap result;
  result.fits.resize(static_cast<size_t>(count));
#pragma omp parallel for schedule(dynamic, 4)
  for (int n = 0; n < count; ++n) {
    const auto weights = resample_weights(points, unit, seed, uint64_t(n));
    result.fits[static_cast<size_t>(n)] = refine_law(law, points, delta, weights);
  }
  return result;
}

}  // namespace shoal
