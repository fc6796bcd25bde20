#include "laws/study_text.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/units.h"

namespace shoal {
namespace {

std::string interval(const Spread& spread, const char* number = "{:.4g}") {
  if (spread.count == 0) return "";
  return fmt::format("{} .. {}", fmt::format(fmt::runtime(number), spread.low),
                     fmt::format(fmt::runtime(number), spread.high));
}

std::string counts(const Spread& spread) {
  if (spread.count == 0) return "";
  return fmt::format("{} .. {}", format_count(spread.low), format_count(spread.high));
}

std::string data_text(const Study& study) {
  auto range = [&study](auto value) {
    const auto [low, high] =
        std::minmax_element(study.points.begin(), study.points.end(),
                            [value](const LawPoint& a, const LawPoint& b) { return a.*value < b.*value; });
    return std::pair{(*low).*value, (*high).*value};
  };
  const auto [few, many] = range(&LawPoint::params);
  const auto [shortest, longest] = range(&LawPoint::tokens);
  const auto [cheap, dear] = range(&LawPoint::flops);
  const auto [best, worst] = range(&LawPoint::loss);
  return fmt::format(
      "{} points of {} shapes: {} to {} parameters, {} to {} tokens, {:.3g} to {:.3g} FLOPs, loss {:.4f} to "
      "{:.4f}\n",
      study.points.size(), study.shapes, format_count(few), format_count(many), format_count(shortest),
      format_count(longest), cheap, dear, best, worst);
}

std::string lines_text(const Study& study) {
  if (study.lines.empty()) return "";
  std::string text = fmt::format("\n{:<28}{:>7}   {:<34}{}\n", "optimal sizes ~ C^slope", "points",
                                 "slope of params (95 %)", "slope of tokens (95 %)");
  for (const ScalingLines& lines : study.lines) {
    const int approach = lines.name == "isoFLOP minima" ? 2 : 1;
    text += fmt::format("  {} {:<24}{:>7}   {:<8.4f}{:<26}{:<8.4f}{}\n", approach, lines.name, lines.points,
                        lines.params.slope, interval(lines.params_slope, "{:.3f}"), lines.tokens.slope,
                        interval(lines.tokens_slope, "{:.3f}"));
  }
  return text;
}

std::string form_text(const FormStudy& form, double delta) {
  std::string text = fmt::format("\n3 loss = E + sum of A / x^e over {} (Huber {:g} on log loss)\n",
                                 name_of(form.law.terms), delta);
  text += fmt::format("  {:<14}{:<12}{:<26}{:<12}{}\n", "", "e", "95 %", "A", "95 %");
  for (size_t j = 0; j < form.law.terms.size(); ++j) {
    text += fmt::format("  {:<14}{:<12.5f}{:<26}{:<12.5g}{}\n", name_of(form.law.terms[j]),
                        form.law.exponents[j], interval(form.exponents[j]),
                        std::exp(form.law.coefficients[j]), interval(form.coefficients[j]));
  }
  text += fmt::format("  {:<14}{:<12.5f}{}\n", "irreducible E", std::exp(form.law.irreducible),
                      interval(form.irreducible));
  if (form.params_slope) {
    text += fmt::format("  {:<14}{:<12.4f}{}\n", "params ~ C^", *form.params_slope,
                        interval(form.params_slope_spread));
  }
  text += fmt::format(
      "  objective {:.6g}; of {} starts the best {} were followed to the end, {} of them came here\n",
      form.law.objective, form.search.starts, form.search.finished, form.search.agreeing);
  return text;
}

std::string leave_out_text(const FormStudy& form) {
  const LeaveOut& largest = form.without_largest;
  std::string text;
  if (largest.why_not.empty()) {
    text +=
        fmt::format("  without {} ({} points): predicts them within {:.2f} % (the fit to all: {:.2f} %)\n",
                    largest.what, largest.left_out, 100 * largest.error, 100 * largest.own_error);
  } else {
    text += fmt::format("  without {}: cannot be fitted, {}\n", largest.what, largest.why_not);
  }
  const LeaveOut* worst = nullptr;
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const LeaveOut& one : form.without_shape) {
    if (!one.why_not.empty()) continue;
    if (worst == nullptr || one.error > worst->error) worst = &one;
    const double exponent = one.law.exponents.back();
    low = std::min(low, exponent);
    high = std::max(high, exponent);
  }
  if (worst == nullptr) return text;
  return text + fmt::format(
                    "  without one shape: worst predicted is {} ({:.2f} %, the fit to all {:.2f} %); "
                    "exponent of {} {:.4f} .. {:.4f}\n",
                    worst->what, 100 * worst->error, 100 * worst->own_error, name_of(form.law.terms.back()),
                    low, high);
}

std::string advice_text(const Study& study) {
  if (study.advice.empty()) return "";
  std::string text = fmt::format("\n{:<10}{:<36}{:>9}{:>10}{:>9}{:>8}{:>7}{:>9}   {}\n", "FLOPs", "approach",
                                 "params", "tokens", "tok/par", "width", "depth", "loss", "params, 95 %");
  double shown = 0;
  for (const Advice& advice : study.advice) {
    const Prescription& p = advice.at;
    const auto optional = [](double value, const char* number) {
      return value > 0 ? fmt::format(fmt::runtime(number), value) : std::string("-");
    };
    text += fmt::format("{:<10}{:<36}{:>9}{:>10}{:>9.3g}{:>8}{:>7}{:>9}   {}{}{}\n",
                        p.flops == shown ? "" : fmt::format("{:.3g}", p.flops), advice.approach,
                        format_count(p.params), format_count(p.tokens), p.tokens / p.params,
                        optional(p.width, "{:g}"), optional(p.depth, "{:g}"), optional(p.loss, "{:.4f}"),
                        counts(advice.params), advice.beyond_data ? "  beyond the data" : "",
                        p.at_border ? "  at the limit of the search" : "");
    shown = p.flops;
  }
  return text;
}

nlohmann::ordered_json to_json(const Spread& spread) {
  if (spread.count == 0) return nullptr;
  return {{"low", spread.low},
          {"high", spread.high},
          {"deviation", spread.deviation},
          {"resamples", spread.count}};
}

nlohmann::ordered_json to_json(const LogLine& line, const Spread& spread) {
  return {{"slope", line.slope}, {"intercept", line.intercept}, {"slope_interval", to_json(spread)}};
}

nlohmann::ordered_json to_json(const FormStudy& form, double delta) {
  nlohmann::ordered_json law{{"terms", nlohmann::ordered_json::array()},
                             {"huber_delta", delta},
                             {"objective", form.law.objective},
                             {"log_irreducible", form.law.irreducible},
                             {"irreducible", std::exp(form.law.irreducible)},
                             {"irreducible_interval", to_json(form.irreducible)}};
  for (size_t j = 0; j < form.law.terms.size(); ++j) {
    law["terms"].push_back({{"name", name_of(form.law.terms[j])},
                            {"exponent", form.law.exponents[j]},
                            {"exponent_interval", to_json(form.exponents[j])},
                            {"log_coefficient", form.law.coefficients[j]},
                            {"coefficient_interval", to_json(form.coefficients[j])}});
  }
  if (form.params_slope) {
    law["params_slope"] = *form.params_slope;
    law["params_slope_interval"] = to_json(form.params_slope_spread);
  }
  law["left_out"] = nlohmann::ordered_json::array();
  auto all = form.without_shape;
  all.push_back(form.without_largest);
  for (const LeaveOut& one : all) {
    nlohmann::ordered_json entry{
        {"what", one.what}, {"points", one.left_out}, {"error_of_fit_to_all", one.own_error}};
    if (one.why_not.empty()) {
      entry["error"] = one.error;
      entry["exponents"] = one.law.exponents;
      entry["irreducible"] = std::exp(one.law.irreducible);
    } else {
      entry["why_not"] = one.why_not;
    }
    law["left_out"].push_back(entry);
  }
  return law;
}

}  // namespace

std::string study_text(const Study& study) {
  std::string text = data_text(study) + lines_text(study);
  for (const FormStudy& form : study.forms) text += form_text(form, study.delta) + leave_out_text(form);
  return text + advice_text(study);
}

std::string advice_csv(const Study& study) {
  std::string csv =
      "flops,approach,params,tokens,tokens_per_param,width,depth,loss,params_low,params_high,tokens_low,"
      "tokens_high,"
      "beyond_data\n";
  const auto optional = [](double value) { return value > 0 ? fmt::format("{:.6g}", value) : std::string(); };
  for (const Advice& a : study.advice) {
    csv += fmt::format("{:.6g},\"{}\",{:.6g},{:.6g},{:.6g},{},{},{},{},{},{},{},{}\n", a.at.flops, a.approach,
                       a.at.params, a.at.tokens, a.at.tokens / a.at.params, optional(a.at.width),
                       optional(a.at.depth), optional(a.at.loss), optional(a.params.low),
                       optional(a.params.high), optional(a.tokens.low), optional(a.tokens.high),
                       a.beyond_data ? 1 : 0);
  }
  return csv;
}

std::string study_json(const Study& study) {
  nlohmann::ordered_json json{{"points", study.points.size()}, {"shapes", study.shapes}};
  for (const char* list : {"lines", "laws", "advice"}) json[list] = nlohmann::ordered_json::array();
  for (const ScalingLines& lines : study.lines) {
    json["lines"].push_back({{"name", lines.name},
                             {"points", lines.points},
                             {"params", to_json(lines.params, lines.params_slope)},
                             {"tokens", to_json(lines.tokens, lines.tokens_slope)}});
  }
  for (const FormStudy& form : study.forms) json["laws"].push_back(to_json(form, study.delta));
  for (const Advice& a : study.advice) {
    nlohmann::ordered_json entry{{"flops", a.at.flops},
                                 {"approach", a.approach},
                                 {"params", a.at.params},
                                 {"tokens", a.at.tokens},
                                 {"beyond_data", a.beyond_data}};
    if (a.at.width > 0) entry.update({{"width", a.at.width}, {"depth", a.at.depth}});
    if (a.at.loss > 0) entry["loss"] = a.at.loss;
    entry["params_interval"] = to_json(a.params);
    entry["tokens_interval"] = to_json(a.tokens);
    json["advice"].push_back(entry);
  }
  json["warnings"] = study.warnings;
  return json.dump(2) + "\n";
}

}  // namespace shoal
