// The charts of a study of scaling laws.
#pragma once

#include <vector>

#include "laws/study.h"
#include "report/xy_plot.h"

namespace shoal::report {

// Loss against FLOPs with the hull; isoFLOP profiles; optimal params, tokens and tokens a parameter against
// FLOPs; isoLoss contours; optimal width and depth. Those that the study has something for.
std::vector<XyPlot> law_plots(const Study& study);

}  // namespace shoal::report
