// Curves of equal loss that fitted laws predict.
#pragma once

#include <vector>

#include "laws/study.h"
#include "report/xy_plot.h"

namespace shoal::report {

// For a law of params and tokens, in the plane of FLOPs and params with the efficient frontier; for one that
// speaks of shapes, in the plane of width and depth at the largest budget that lies within the data.
std::vector<XyPlot> isoloss_plots(const Study& study, const std::vector<double>& budgets);

}  // namespace shoal::report
