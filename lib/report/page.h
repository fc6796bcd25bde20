// One self-contained HTML page about one or several runs: no network, readable without scripts, light and
// dark.
#pragma once

#include <string>
#include <vector>

#include "report/chart.h"
#include "report/run_log.h"

namespace shoal::report {

struct PageOptions {
  std::string title;             // empty: the names of the runs
  std::vector<Mark> loss_marks;  // levels drawn in the charts of losses
  std::string program;           // "shoal 0.1.0 (abc1234)", for the foot of the page
};

// A whole page around its main content: head, style, title, foot and script.
std::string page_around(const std::string& content, const std::string& title, const std::string& program);

std::string report_page(const std::vector<RunLog>& runs, const PageOptions& options);

}  // namespace shoal::report
