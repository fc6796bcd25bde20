// What the words of `shoal fit` mean.
#pragma once

#include "laws/study.h"
#include "shoal/command.h"

namespace shoal {

// Throw UserError naming the flag for a value that means nothing.
LawTableOptions fit_table_options(const Invocation& given);
StudyOptions fit_study_options(const Invocation& given, const std::vector<LawPoint>& points);

}  // namespace shoal
