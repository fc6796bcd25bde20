// The numbers at the top of a report.
#pragma once

#include <string>
#include <vector>

#include "report/run_log.h"

namespace shoal::report {

struct Figure {
  std::string name;   // "validation loss"
  std::string value;  // "3.412"
  std::string note;   // "perplexity 30.3, at step 400"; may be empty
};

// In a fixed order, with "–" for what a run did not log, so that several runs line up as the columns of a
// table.
std::vector<Figure> summary_of(const RunLog& run);

}  // namespace shoal::report
