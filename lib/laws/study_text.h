// A study as tables of text, and as JSON for other programs.
#pragma once

#include <string>

#include "laws/study.h"

namespace shoal {

std::string study_text(const Study& study);

// One row a budget and approach: flops, approach, params, tokens, tokens_per_param, width, depth, loss,
// params_low, params_high, tokens_low, tokens_high, beyond_data.
std::string advice_csv(const Study& study);

// Every fitted number: {"lines": [...], "laws": [...], "advice": [...], "warnings": [...]}.
std::string study_json(const Study& study);

}  // namespace shoal
