#include "laws/study.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/error.h"
#include "base/units.h"

namespace shoal {
namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

Spread spread_of(std::vector<double> values) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  if (values.size() < 2) return {};
  std::sort(values.begin(), values.end());
  const double n = double(values.size());
  double mean = 0, squares = 0;
  for (double v : values) mean += v / n;
  for (double v : values) squares += (v - mean) * (v - mean);
  const auto at = [&](double share) { return values[size_t(share * (n - 1) + 0.5)]; };
  return {at(0.025), at(0.975), std::sqrt(squares / (n - 1)), values.size()};
}

// One value for each resampled fit.
Spread over(const std::vector<ParametricLaw>& fits,
            const std::function<double(const ParametricLaw&)>& value) {
  std::vector<double> values;
  for (const ParametricLaw& fit : fits) values.push_back(value(fit));
  return spread_of(std::move(values));
}

std::pair<LogLine, LogLine> lines_through(const std::vector<LawPoint>& points,
                                          const std::vector<size_t>& chosen) {
  std::vector<double> flops, params, tokens;
  for (size_t i : chosen) {
    flops.push_back(points[i].flops);
    params.push_back(points[i].params);
    tokens.push_back(points[i].tokens);
  }
  return {fit_log_line(flops, params), fit_log_line(flops, tokens)};
}

std::vector<LawPoint> drawn(const std::vector<LawPoint>& points, const std::vector<double>& weights) {
  std::vector<LawPoint> some;
  for (size_t i = 0; i < points.size(); ++i) {
    if (weights[i] > 0) some.push_back(points[i]);
  }
  return some;
}

// The slopes of a rule that turns points into lines, over resamples of the points.
void resample_slopes(ScalingLines& lines, const std::vector<LawPoint>& points, const StudyOptions& options,
                     Resample unit,
                     const std::function<std::pair<LogLine, LogLine>(const std::vector<LawPoint>&)>& rule) {
  std::vector<double> params(size_t(options.bootstraps), nan_value), tokens = params;
#pragma omp parallel for schedule(dynamic, 4)
  for (int n = 0; n < options.bootstraps; ++n) {
    try {
      const auto [p, t] = rule(drawn(points, resample_weights(points, unit, options.seed, uint64_t(n))));
      params[size_t(n)] = p.slope;
      tokens[size_t(n)] = t.slope;
    } catch (const UserError&) {  // too few points for a line in this resample
    }
  }
  lines.params_slope = spread_of(std::move(params));
  lines.tokens_slope = spread_of(std::move(tokens));
}

void study_approach1(Study& study, const StudyOptions& options) {
  using Chooser = std::function<std::vector<size_t>(const std::vector<LawPoint>&)>;
  const Chooser hull = [](const auto& points) { return law_hull(points); };
  const Chooser minima = [&](const auto& points) { return law_binned_minima(points, options.bins); };
  study.hull = hull(study.points);
  study.minima = minima(study.points);
  for (const auto& [name, chooser, chosen] :
       {std::tuple{"hull", hull, &study.hull}, {"binned minima", minima, &study.minima}}) {
    ScalingLines lines{name, chosen->size(), {}, {}, {}, {}};
    try {
      std::tie(lines.params, lines.tokens) = lines_through(study.points, *chosen);
    } catch (const UserError&) {
      study.warnings.push_back(
          fmt::format("approach 1, {}: only {} points, which is no line", name, chosen->size()));
      continue;
    }
    resample_slopes(lines, study.points, options, options.resample,
                    [&chooser](const auto& points) { return lines_through(points, chooser(points)); });
    study.lines.push_back(lines);
  }
}

void study_approach2(Study& study, const StudyOptions& options) {
  const std::vector<double> budgets =
      options.isoflop.empty() ? isoflop_budgets(study.points) : options.isoflop;
  study.profiles = isoflop_profiles(study.points, budgets);
  const auto rule = [&budgets](const std::vector<LawPoint>& points) {
    const IsoflopLines lines = isoflop_lines(isoflop_profiles(points, budgets));
    return std::pair{lines.params, lines.tokens};
  };
  std::string without;
  for (const auto& profile : study.profiles) {
    if (profile.has_minimum) continue;
    without += fmt::format("{}{:.3g} ({} sizes: {})", without.empty() ? "" : ", ", profile.flops,
                           profile.samples.size(), profile.why_not);
  }
  if (!without.empty()) study.warnings.push_back("approach 2 has no minimum at FLOPs of " + without);
  ScalingLines lines{"isoFLOP minima", 0, {}, {}, {}, {}};
  for (const auto& profile : study.profiles) lines.points += profile.has_minimum ? 1 : 0;
  if (lines.points < 2) {
    study.warnings.push_back(
        fmt::format("approach 2 does not apply: {} of {} budgets have a minimum, two are needed",
                    lines.points, budgets.size()));
    return;
  }
  std::tie(lines.params, lines.tokens) = rule(study.points);
  // Whole shapes, because a profile needs what each shape gives to each budget.
  resample_slopes(lines, study.points, options, Resample::shapes, rule);
  study.lines.push_back(lines);
}

std::optional<double> params_slope(const ParametricLaw& law, const TokenCost& cost) {
  if (law.terms != LawForm{LawTerm::params, LawTerm::tokens}) return std::nullopt;
  return law.exponents[1] / (law.exponents[0] + cost.power * law.exponents[1]);
}

FormStudy study_form(const Study& study, const LawForm& form, const StudyOptions& options) {
  FormStudy result;
  FitOptions fit;
  fit.delta = options.delta;
  fit.max_starts = options.max_starts;
  result.law = fit_law(study.points, form, fit, &result.search);
  result.doubts = doubts_about(result.law, study.points);
  result.params_slope = params_slope(result.law, study.cost);
  result.without_shape = leave_out_shapes(result.law, study.points, options.delta);
  result.without_largest = leave_out_largest(result.law, study.points, options.delta);
  result.resampled = bootstrap_law(result.law, study.points, options.delta, options.bootstraps, options.seed,
                                   options.resample)
                         .fits;
  for (size_t j = 0; j < form.size(); ++j) {
    result.exponents.push_back(over(result.resampled, [j](auto& l) { return l.exponents[j]; }));
    result.coefficients.push_back(
        over(result.resampled, [j](auto& l) { return std::exp(l.coefficients[j]); }));
  }
  result.irreducible = over(result.resampled, [](auto& l) { return std::exp(l.irreducible); });
  if (result.params_slope) {
    result.params_slope_spread =
        over(result.resampled, [&](auto& l) { return params_slope(l, study.cost).value(); });
  }
  return result;
}

std::vector<double> default_budgets(const std::vector<LawPoint>& points) {
  const auto [least, most] = std::minmax_element(
      points.begin(), points.end(), [](const auto& a, const auto& b) { return a.flops < b.flops; });
  std::vector<double> budgets;
  for (double e = std::ceil(std::log10(least->flops)); e <= std::floor(std::log10(most->flops)) + 2; ++e) {
    budgets.push_back(std::pow(10, e));
  }
  return budgets;
}

void advise(Study& study, double flops) {
  double most = 0;
  for (const LawPoint& p : study.points) most = std::max(most, p.flops);
  const bool beyond = flops > most;
  for (const ScalingLines& lines : study.lines) {
    if (lines.name == "binned minima") continue;
    const auto at = [flops](const LogLine& line) {
      return std::exp(line.slope * std::log(flops) + line.intercept);
    };
    const char* approach = lines.name == "hull" ? "1, hull" : "2, isoFLOP";
    study.advice.push_back(
        {approach, {flops, at(lines.params), at(lines.tokens), 0, 0, 0, false}, {}, {}, beyond});
  }
  const ShapeCosts* costs = study.shape_costs ? &*study.shape_costs : nullptr;
  for (const FormStudy& form : study.forms) {
    const auto best = prescribe(form.law, flops, study.cost, costs, study.shape_range);
    if (!best) continue;
    const size_t n = form.resampled.size();
    std::vector<double> params(n, nan_value), tokens = params;
#pragma omp parallel for schedule(dynamic, 8)
    for (size_t i = 0; i < n; ++i) {
      const auto other = prescribe(form.resampled[i], flops, study.cost, costs, study.shape_range);
      if (!other) continue;
      params[i] = other->params;
      tokens[i] = other->tokens;
    }
    study.advice.push_back({"3, " + name_of(form.law.terms), *best, spread_of(std::move(params)),
                            spread_of(std::move(tokens)), beyond});
  }
}

bool uses_shapes(const LawForm& form) {
  return std::any_of(form.begin(), form.end(),
                     [](LawTerm t) { return t == LawTerm::width || t == LawTerm::depth; });
}

// Params and tokens always; those with width and depth where the points have them and can tell them.
std::vector<LawForm> default_forms(Study& study) {
  using enum LawTerm;
  std::vector<LawForm> forms{{params, tokens}};
  if (std::none_of(study.points.begin(), study.points.end(), [](const LawPoint& p) { return p.width > 0; })) {
    return forms;
  }
  for (const LawForm& form : {LawForm{width, depth, params, tokens}, LawForm{width, depth, tokens}}) {
    if (const auto problem = why_unidentifiable(study.points, form)) {
      study.warnings.push_back(
          fmt::format("approach 3 with {} is left out: {}", name_of(form), problem->what));
    } else {
      forms.push_back(form);
    }
  }
  return forms;
}

}  // namespace

std::string name_of(const LawForm& form) {
  std::string text;
  for (LawTerm term : form) text += (text.empty() ? "" : " + ") + name_of(term);
  return text;
}

Study study_laws(std::vector<LawPoint> points, const StudyOptions& options) {
  Study study;
  study.points = std::move(points);
  study.delta = options.delta;
  count_flops(study.points, options.flops);
  const auto shapes = by_shape(study.points);
  study.shapes = shapes.size();
  study.cost = token_cost(study.points);
  study.shape_costs = ShapeCosts::of(study.points);
  for (const LawPoint& p : study.points) {
    if (!(p.width > 0)) continue;
    study.shape_range.narrowest =
        study.shape_range.narrowest > 0 ? std::min(study.shape_range.narrowest, p.width) : p.width;
    study.shape_range.widest = std::max(study.shape_range.widest, p.width);
  }
  study_approach1(study, options);
  study_approach2(study, options);
  for (const LawForm& form : options.forms.empty() ? default_forms(study) : options.forms) {
    if (uses_shapes(form) && !study.shape_costs) {
      study.warnings.push_back(fmt::format(
          "approach 3 with {}: the points do not tell width and depth apart, so that it advises no shapes",
          name_of(form)));
    }
    study.forms.push_back(study_form(study, form, options));
    for (const std::string& doubt : study.forms.back().doubts) {
      study.warnings.push_back(fmt::format("approach 3 with {}: {}", name_of(form), doubt));
    }
  }
  for (double flops : options.budgets.empty() ? default_budgets(study.points) : options.budgets) {
    advise(study, flops);
  }
  if (options.resample == Resample::points && study.points.size() > 3 * study.shapes &&
      options.bootstraps > 0) {
    study.warnings.push_back(fmt::format(
        "the intervals take the {} points for independent, but they come from {} shapes: --resample shapes "
        "gives wider and more honest ones",
        study.points.size(), study.shapes));
  }
  return study;
}

}  // namespace shoal
