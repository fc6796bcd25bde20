#include "report/law_page.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/units.h"
#include "base/whole_file.h"
#include "laws/study_text.h"
#include "report/html.h"
#include "report/law_plots.h"
#include "report/page.h"

namespace shoal::report {
namespace {

std::string interval(const Spread& spread, bool counts = false) {
  if (spread.count == 0) return "";
  return counts ? fmt::format("{} to {}", format_count(spread.low), format_count(spread.high))
                : fmt::format("{:.4g} to {:.4g}", spread.low, spread.high);
}

using Cells = std::vector<std::string>;

std::string row_html(const Cells& cells, const char* cell, const char* kind = "") {
  std::string html = "<tr>";
  for (const std::string& text : cells) html += fmt::format("<{0}{2}>{1}</{0}>", cell, escaped(text), kind);
  return html + "</tr>";
}

std::string table_html(const Cells& head, const std::vector<Cells>& rows) {
  std::string html = "<table class=\"numbers\"><thead>" + row_html(head, "th") + "</thead><tbody>";
  for (const Cells& row : rows) html += row_html(row, "td");
  return html + "</tbody></table>\n";
}

std::string figures_html(const Study& study) {
  std::vector<Cells> figures{
      {"points", std::to_string(study.points.size()), fmt::format("of {} shapes", study.shapes)}};
  for (const ScalingLines& lines : study.lines) {
    figures.push_back(
        {"N ~ C^a, " + lines.name, fmt::format("{:.3f}", lines.params.slope), interval(lines.params_slope)});
  }
  for (const FormStudy& form : study.forms) {
    if (form.params_slope) {
      figures.push_back({"N ~ C^a, approach 3", fmt::format("{:.3f}", *form.params_slope),
                         interval(form.params_slope_spread)});
    }
  }
  std::string html = "<section class=\"figures\">";
  for (const Cells& f : figures) {
    html += fmt::format("<div class=\"figure\"><span>{}</span><b>{}</b><small>{}</small></div>",
                        escaped(f[0]), escaped(f[1]), escaped(f[2]));
  }
  return html + "</section>\n";
}

std::string advice_html(const Study& study) {
  if (study.advice.empty()) return "";
  std::string html = "<section id=\"advice\"><h2>What to train</h2><table class=\"numbers advice\"><thead>" +
                     row_html({"FLOPs", "approach", "parameters", "95 %", "tokens", "95 %",
                               "tokens a parameter", "width", "depth", "loss"},
                              "th") +
                     "</thead><tbody>";
  for (const Advice& a : study.advice) {
    const auto optional = [](double value, const char* number) {
      return value > 0 ? fmt::format(fmt::runtime(number), value) : std::string("–");
    };
    html += row_html({fmt::format("{:.3g}", a.at.flops), a.approach, format_count(a.at.params),
                      interval(a.params, true), format_count(a.at.tokens), interval(a.tokens, true),
                      fmt::format("{:.3g}", a.at.tokens / a.at.params), optional(a.at.width, "{:g}"),
                      optional(a.at.depth, "{:g}"), optional(a.at.loss, "{:.4f}")},
                     "td", a.beyond_data ? " class=\"beyond\"" : "");
  }
  return html +
         "</tbody></table><p class=\"note\">Pale rows are budgets beyond the data. Approaches 1 and 2 choose "
         "a "
         "size and an amount of data, and do not predict a loss.</p></section>\n";
}

std::string form_html(const FormStudy& form) {
  std::vector<Cells> rows;
  for (size_t j = 0; j < form.law.terms.size(); ++j) {
    rows.push_back({name_of(form.law.terms[j]), fmt::format("{:.5f}", form.law.exponents[j]),
                    interval(form.exponents[j]), fmt::format("{:.5g}", std::exp(form.law.coefficients[j])),
                    interval(form.coefficients[j])});
  }
  rows.push_back({"irreducible", "", "", fmt::format("{:.5f}", std::exp(form.law.irreducible)),
                  interval(form.irreducible)});
  std::string html = fmt::format("<h3>Approach 3, {}</h3>", escaped(name_of(form.law.terms))) +
                     table_html({"term", "exponent", "95 %", "coefficient", "95 %"}, rows);
  html += fmt::format(
      "<p class=\"note\">Objective {:.6g}. Of {} starts the best {} were followed to the end; {} of them "
      "came to this minimum.</p>",
      form.law.objective, form.search.starts, form.search.finished, form.search.agreeing);
  std::vector<Cells> left;
  const auto add = [&](const LeaveOut& one) {
    Cells row{one.what, std::to_string(one.left_out)};
    if (one.why_not.empty()) {
      std::string exponents;
      for (double e : one.law.exponents)
        exponents += fmt::format("{}{:.4f}", exponents.empty() ? "" : "  ", e);
      row.insert(row.end(),
                 {fmt::format("{:.2f} %", 100 * one.error), fmt::format("{:.2f} %", 100 * one.own_error),
                  exponents, fmt::format("{:.4f}", std::exp(one.law.irreducible))});
    } else {
      row.insert(row.end(), {one.why_not, "", "", ""});
    }
    left.push_back(row);
  };
  add(form.without_largest);
  for (const LeaveOut& one : form.without_shape) add(one);
  return html + "<details><summary>Left out, one at a time</summary>" +
         table_html(
             {"left out", "points", "error on them", "of the fit to all", "exponents without", "irreducible"},
             left) +
         "</details>\n";
}

}  // namespace

std::string law_page(const Study& study, const std::string& title, const std::string& program) {
  std::string html;
  for (const std::string& warning : study.warnings)
    html += "<p class=\"warning\">" + escaped(warning) + "</p>";
  html += figures_html(study) + "<section class=\"charts\">";
  for (const XyPlot& plot : law_plots(study)) html += xy_plot_html(plot);
  html += "</section>\n" + advice_html(study) + "<section id=\"laws\"><h2>Fits</h2>";
  std::vector<Cells> lines;
  for (const ScalingLines& l : study.lines) {
    lines.push_back({l.name, std::to_string(l.points), fmt::format("{:.5f}", l.params.slope),
                     interval(l.params_slope), fmt::format("{:.5f}", l.tokens.slope),
                     interval(l.tokens_slope)});
  }
  if (!lines.empty()) {
    html +=
        "<h3>Approaches 1 and 2</h3>" +
        table_html({"through", "points", "slope of parameters", "95 %", "slope of tokens", "95 %"}, lines);
  }
  for (const FormStudy& form : study.forms) html += form_html(form);
  return page_around(html + "</section>\n", title, program);
}

std::string write_law_files(const Study& study, const std::filesystem::path& folder, const std::string& title,
                            const std::string& program) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) runtime_failure("cannot make the folder {}: {}", folder.string(), error.message());
  for (const XyPlot& plot : law_plots(study))
    write_whole_file(folder / (plot.id + ".gp"), xy_plot_gnuplot(plot));
  write_whole_file(folder / "advice.csv", advice_csv(study));
  write_whole_file(folder / "fit.json", study_json(study));
  write_whole_file(folder / "report.html", law_page(study, title, program));
  return (folder / "report.html").string();
}

}  // namespace shoal::report
