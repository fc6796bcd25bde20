// The report of `shoal fit`: one self-contained page, and the folder of files beside it.
#pragma once

#include <filesystem>
#include <string>

#include "laws/study.h"

namespace shoal::report {

// program: "shoal 0.1.0 (abc1234)", for the foot of the page.
std::string law_page(const Study& study, const std::string& title, const std::string& program);

// Writes report.html, fit.json, advice.csv and one gnuplot script for each chart, each whole or not at all.
// Returns the path of the page.
std::string write_law_files(const Study& study, const std::filesystem::path& folder, const std::string& title,
                            const std::string& program);

}  // namespace shoal::report
