#include <algorithm>
#include <cmath>
#include <set>

#include "laws/parametric.h"

namespace shoal {
namespace {

constexpr size_t values_needed = 3;  // for exponent, coefficient and the irreducible loss

std::optional<Problem> lacks_values(const std::vector<LawPoint>& points, LawTerm term) {
  std::set<double> values;
  for (const LawPoint& p : points) {
    const double x = value_of(p, term);
    if (!(x > 0)) {
      return Problem{fmt::format("the point has no value for the term {}", name_of(term)), describe(p), "",
                     fmt::format("a column {}", name_of(term)), "or a law without the term"};
    }
    if (values.size() < values_needed) values.insert(x);
  }
  if (values.size() >= values_needed) return std::nullopt;
  return Problem{fmt::format("the term {} cannot be identified", name_of(term)), "",
                 values.size() == 1 ? fmt::format("every point has {}", *values.begin())
                                    : fmt::format("only {} and {}", *values.begin(), *values.rbegin()),
                 "three different values at least", "leave the term out"};
}

// How much of one term's variation in logs the other does not explain: 1 - r^2.
double independence(const std::vector<LawPoint>& points, LawTerm a, LawTerm b) {
  const double n = double(points.size());
  double mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
  for (const LawPoint& p : points) {
    mean_a += std::log(value_of(p, a)) / n;
    mean_b += std::log(value_of(p, b)) / n;
  }
  for (const LawPoint& p : points) {
    const double x = std::log(value_of(p, a)) - mean_a, y = std::log(value_of(p, b)) - mean_b;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  return 1 - ab * ab / (aa * bb);
}

}  // namespace

std::optional<Problem> why_unidentifiable(const std::vector<LawPoint>& points,
                                          const std::vector<LawTerm>& terms) {
  const size_t unknowns = 2 * terms.size() + 1;
  if (points.size() < unknowns) {
    return Problem{"there are too few points to fit", "", fmt::format("{}", points.size()),
                   fmt::format("at least {}, one for each unknown", unknowns), ""};
  }
  for (LawTerm term : terms) {
    if (auto problem = lacks_values(points, term)) return problem;
  }
  for (size_t i = 0; i < terms.size(); ++i) {
    for (size_t j = i + 1; j < terms.size(); ++j) {
      if (independence(points, terms[i], terms[j]) > 1e-6) continue;
      return Problem{
          fmt::format("the terms {} and {} cannot be told apart", name_of(terms[i]), name_of(terms[j])), "",
          fmt::format("{} is a fixed power of {} at every point", name_of(terms[j]), name_of(terms[i])),
          "points that vary the one without the other", "leave one of the terms out"};
    }
  }
  return std::nullopt;
}

std::vector<std::string> doubts_about(const ParametricLaw& law, const std::vector<LawPoint>& points) {
  std::vector<std::string> doubts;
  constexpr double negligible = 1e-4;  // of the loss
  std::vector<double> largest(law.terms.size() + 1, 0.0);
  for (const LawPoint& p : points) {
    const double loss = law.loss(p);
    for (size_t j = 0; j < law.terms.size(); ++j) {
      const double part =
          std::exp(law.coefficients[j] - law.exponents[j] * std::log(value_of(p, law.terms[j])));
      largest[j] = std::max(largest[j], part / loss);
    }
    largest.back() = std::max(largest.back(), std::exp(law.irreducible) / loss);
  }
  for (size_t j = 0; j < law.terms.size(); ++j) {
    const std::string name = name_of(law.terms[j]);
    if (largest[j] < negligible) {
      doubts.push_back(
          fmt::format("the term {} is below 0.01 % of the loss at every point: its exponent and coefficient "
                      "are not identified",
                      name));
    } else if (!(law.exponents[j] > 0)) {
      doubts.push_back(
          fmt::format("the loss does not fall with {} (exponent {:.4g}): a prescription from this law "
                      "means nothing",
                      name, law.exponents[j]));
    }
  }
  if (largest.back() < negligible) {
    doubts.push_back(
        "the irreducible loss is below 0.01 % of the loss at every point: it is not identified "
        "beyond being near 0");
  }
  return doubts;
}

}  // namespace shoal
