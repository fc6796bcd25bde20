#include "report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "report/assets.h"
#include "report/curve.h"
#include "report/html.h"
#include "report/spec_text.h"
#include "report/summary.h"

namespace shoal::report {

namespace {

constexpr size_t chart_buckets = 700;  // stretches a curve is thinned to, about one for each pixel

bool has_finite(const std::vector<Point>& points) {
  return std::any_of(points.begin(), points.end(), [](const Point& p) { return std::isfinite(p.value); });
}

// The curve of one key of each run. A noisy one is drawn faintly below its running mean.
void add_curves(Chart& chart, const std::vector<RunLog>& runs, const std::string& key, bool noisy,
                bool dots) {
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto& points = runs[i].points(key);
    const std::string label = runs.size() > 1 ? runs[i].name : chart.title;
    const bool smooth = noisy && points.size() > 40;
    if (smooth) {
      chart.curves.push_back({label, int(i), "raw", thinned(points, chart_buckets)});
      chart.curves.push_back(
          {label + ", smoothed", int(i), "line",
           thinned(smoothed(points, std::max(2.0, double(points.size()) / 150)), chart_buckets)});
    } else {
      chart.curves.push_back(
          {label, int(i), dots && points.size() <= 200 ? "dots" : "line", thinned(points, chart_buckets)});
    }
  }
  std::stable_partition(chart.curves.begin(), chart.curves.end(),
                        [](auto& curve) { return curve.role == "raw"; });
}

std::string charts_html(const std::vector<RunLog>& runs, const PageOptions& options) {
  struct Plan {
    const char *id, *key, *title, *unit;
    bool noisy, dots, from_zero, always;
  };
  static constexpr Plan plans[] = {
      {"chart-loss", "loss", "Training loss", "nats a token", true, false, false, true},
      {"chart-valid", "valid_loss", "Validation loss", "nats a token", false, true, false, true},
      {"chart-lr", "lr", "Learning rate", "", false, false, true, true},
      {"chart-grad", "grad_norm", "Gradient norm", "before clipping", true, false, true, true},
      {"chart-speed", "tokens_per_second", "Throughput", "tokens a second", false, false, true, true},
      {"chart-mfu", "mfu", "Model FLOP utilisation", "of the measured peak", false, false, true, false},
      {"chart-plain", "loss_plain", "Plain loss", "nats a token, dropped targets included", true, false,
       false, false},
      {"chart-dropped", "loss_dropped", "Loss of dropped targets", "nats a token", true, false, false, false},
  };
  std::string html = "<section class=\"charts\">";
  for (const auto& plan : plans) {
    Chart chart{plan.id, plan.title, plan.unit, {}, {}, plan.from_zero};
    add_curves(chart, runs, plan.key, plan.noisy, plan.dots);
    const bool logged =
        std::any_of(runs.begin(), runs.end(), [&](auto& run) { return has_finite(run.points(plan.key)); });
    if (!logged && !plan.always) continue;
    if (std::string(plan.key).ends_with("loss")) chart.marks = options.loss_marks;
    html += chart_html(chart);
  }
  return html + "</section>\n";
}

// What the runs give back of pages by the number of epochs that they saw them: charts and a table.
std::string memorization_html(const std::vector<RunLog>& runs) {
  Chart exact{"chart-memorized", "Pages memorized", "% of the pages, to the last token", {}, {}, true,
              "epochs"};
  Chart rouge{"chart-rouge", "RougeL of the endings", "1: as in the training data", {}, {}, true, "epochs"};
  std::string rows;
  for (size_t i = 0; i < runs.size(); ++i) {
    std::vector<Point> shares, overlaps;
    for (const Memorization& m : runs[i].memorization) {
      shares.push_back({m.epochs, m.epochs, 100 * m.share});
      overlaps.push_back({m.epochs, m.epochs, m.rouge_l});
      rows += fmt::format(
          "<tr><th><i class=\"key c{}\"></i>{}</th><td>{}</td><td>{}</td><td>{}</td><td>{:.1f} "
          "%</td><td>{:.1f} "
          "%</td><td>{:.3f}</td></tr>",
          i % 8, escaped(runs[i].name), m.epochs, m.sequences, m.tokens, 100 * m.share, 100 * m.matched,
          m.rouge_l);
    }
    exact.curves.push_back({runs[i].name, int(i), "dots", shares});
    rouge.curves.push_back({runs[i].name, int(i), "dots", overlaps});
  }
  if (rows.empty()) return "";
  return "<section id=\"memorization\"><h2>Pages memorized after epochs</h2><section class=\"charts\">" +
         chart_html(exact) + chart_html(rouge) +
         "</section><table class=\"compare\"><thead><tr><th>run</th><th>epochs</th><th>pages</th><th>last "
         "tokens</th><th>memorized</th><th>tokens right</th><th>RougeL</th></tr></thead><tbody>" +
         rows + "</tbody></table></section>\n";
}

std::string summary_html(const std::vector<RunLog>& runs) {
  if (runs.size() == 1) {
    std::string html = "<section class=\"figures\">";
    for (const auto& figure : summary_of(runs[0])) {
      html += fmt::format("<div class=\"figure\"><span>{}</span><b>{}</b><small>{}</small></div>",
                          escaped(figure.name), escaped(figure.value), escaped(figure.note));
    }
    return html + "</section>\n";
  }
  std::string html = "<section><table class=\"compare\"><thead><tr><th>run</th>";
  for (const auto& figure : summary_of(runs[0])) html += "<th>" + escaped(figure.name) + "</th>";
  html += "</tr></thead><tbody>";
  for (size_t i = 0; i < runs.size(); ++i) {
    html += fmt::format("<tr><th><i class=\"key c{}\"></i>{}</th>", i % 8, escaped(runs[i].name));
    for (const auto& figure : summary_of(runs[i])) {
      html += fmt::format("<td title=\"{}\">{}</td>", escaped(figure.note), escaped(figure.value));
    }
    html += "</tr>";
  }
  return html + "</tbody></table></section>\n";
}

std::string differences_html(const std::vector<RunLog>& runs) {
  std::vector<std::string> specs;
  for (const auto& run : runs) specs.push_back(run.resolved_spec);
  const auto differing = differing_keys(specs);
  if (runs.size() < 2 || differing.empty()) return "";
  std::string html = "<section><h2>What differs</h2><table class=\"compare\"><thead><tr><th>key</th>";
  for (const auto& run : runs) html += "<th>" + escaped(run.name) + "</th>";
  html += "</tr></thead><tbody>";
  for (const auto& [key, values] : differing) {
    html += "<tr><th><code>" + escaped(key) + "</code></th>";
    for (const auto& value : values) html += "<td>" + escaped(value.empty() ? "–" : value) + "</td>";
    html += "</tr>";
  }
  return html + "</tbody></table></section>\n";
}

// The spec with each value's origin beside it; what the user chose stands out from the defaults.
std::string spec_html(const RunLog& run) {
  std::string html = "<pre class=\"spec\">";
  for (const auto& line : spec_lines(run.resolved_spec)) {
    const bool chosen = !line.key.empty() && !line.origin.empty() && line.origin != "default";
    html += fmt::format("{}{}{}", chosen ? "<b>" : "", escaped(line.text), chosen ? "</b>" : "");
    if (!line.origin.empty()) html += "  <i># " + escaped(line.origin) + "</i>";
    html += '\n';
  }
  return html + "</pre>";
}

std::string environment_html(const RunLog& run) {
  std::string html = "<table class=\"environment\">";
  for (const auto& [key, value] : run.environment) {
    html += fmt::format("<tr><th>{}</th><td>{}</td></tr>", escaped(key), escaped(value));
  }
  return html + "</table>";
}

// A section with one part a run; with several runs each part can be opened by itself.
template <typename F>
std::string per_run_html(const std::vector<RunLog>& runs, const std::string& id, const std::string& title,
                         F&& part) {
  std::string html;
  for (const auto& run : runs) {
    const std::string body = part(run);
    if (body.empty()) continue;
    html += runs.size() == 1 ? body
                             : "<details><summary>" + escaped(run.name) + "</summary>" + body + "</details>";
  }
  return html.empty() ? "" : fmt::format("<section id=\"{}\"><h2>{}</h2>{}</section>\n", id, title, html);
}

// Bytes and time a step by purpose; what is hidden went on behind other work.
std::string traffic_html(const RunLog& run) {
  const TrafficLog& traffic = run.traffic;
  if (traffic.purposes.empty() || traffic.steps <= 0) return "";
  std::string rows;
  const auto row = [&](const TrafficPurpose& p) {
    const double hidden = p.under_way_seconds > 0 ? 1 - p.wait_seconds / p.under_way_seconds : 0;
    rows += fmt::format(
        "<tr><th>{}</th><td>{:.4g}</td><td>{}</td><td>{:.1f}</td><td>{:.1f}</td><td>{:.0f} %</td></tr>",
        escaped(p.name), p.calls / traffic.steps, format_bytes(p.ring_bytes / traffic.steps),
        1e3 * p.wait_seconds / traffic.steps, 1e3 * p.under_way_seconds / traffic.steps,
        100 * std::max(0.0, hidden));
  };
  TrafficPurpose all{.name = "all"};
  for (const TrafficPurpose& purpose : traffic.purposes) {
    row(purpose);
    all.calls += purpose.calls;
    all.ring_bytes += purpose.ring_bytes;
    all.wait_seconds += purpose.wait_seconds;
    all.under_way_seconds += purpose.under_way_seconds;
  }
  row(all);
  return fmt::format(
             "<p>The first rank of the grid {}, {:.0f} steps of {:.1f} ms. Bytes as a ring would send them; "
             "under "
             "way is the time from the call of a collective to the end of its wait.</p>",
             escaped(traffic.grid), traffic.steps, 1e3 * traffic.seconds / traffic.steps) +
         "<table class=\"compare\"><thead><tr><th>purpose</th><th>calls a step</th><th>sent a "
         "step</th><th>ms "
         "waited</th><th>ms under way</th><th>hidden</th></tr></thead><tbody>" +
         rows + "</tbody></table>";
}

std::string warnings_html(const std::vector<RunLog>& runs) {
  std::string html;
  for (const auto& run : runs) {
    if (run.unreadable_lines == 0) continue;
    html += fmt::format(
        "<p class=\"warning\">{}: {} lines of metrics.jsonl could not be read and are left out.</p>",
        escaped(run.name), run.unreadable_lines);
  }
  return html;
}

}  // namespace

std::string page_around(const std::string& content, const std::string& title, const std::string& program) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
         "<meta name=\"color-scheme\" content=\"light dark\"><title>" +
         escaped(title) + "</title><style>" + page_css + "</style></head>\n<body><header><h1>" +
         escaped(title) + "</h1><div class=\"controls\" hidden></div></header><main>\n" + content +
         "</main><footer>" + escaped(program) + "</footer><script>" + page_js + "</script></body></html>\n";
}

std::string report_page(const std::vector<RunLog>& runs, const PageOptions& options) {
  std::string title = options.title;
  for (size_t i = 0; title.empty() && i < runs.size(); ++i) {
    for (const auto& run : runs) title += (title.empty() ? "" : ", ") + run.name;
  }
  std::string html = warnings_html(runs) + summary_html(runs) + memorization_html(runs) +
                     charts_html(runs, options) + differences_html(runs);
  html += per_run_html(runs, "traffic", "Communication", traffic_html);
  html += per_run_html(runs, "samples", "Samples", [](const RunLog& run) {
    return run.samples.empty() ? "" : "<pre class=\"samples\">" + escaped(run.samples) + "</pre>";
  });
  html += per_run_html(runs, "spec", "Resolved spec",
                       [](const RunLog& run) { return run.resolved_spec.empty() ? "" : spec_html(run); });
  html += per_run_html(runs, "environment", "Environment", [](const RunLog& run) {
    return run.environment.empty() ? "" : environment_html(run);
  });
  return page_around(html, title, options.program);
}

}  // namespace shoal::report
