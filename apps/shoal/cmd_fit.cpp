#include <cstdio>

#include "laws/study_text.h"
#include "report/law_page.h"
#include "shoal/build_info.h"
#include "shoal/commands.h"
#include "shoal/fit_words.h"

namespace shoal {
namespace {

int run_fit(const Invocation& given) {
  LawTable table = read_law_table(given.text("TABLE"), fit_table_options(given));
  drop_worst(table.points, size_t(given.integer("--drop-worst", 0, 0)));
  const StudyOptions options = fit_study_options(given, table.points);
  Study study = study_laws(std::move(table.points), options);
  study.warnings.insert(study.warnings.begin(), table.warnings.begin(), table.warnings.end());
  std::fputs(study_text(study).c_str(), stdout);
  for (const std::string& warning : study.warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
  if (given.has("--output")) {
    const std::string title = given.text("--title", "Scaling laws of " + given.text("TABLE"));
    const std::string page =
        report::write_law_files(study, given.text("--output"), title, "shoal " + version());
    std::printf("\n%s\n", page.c_str());
  }
  return 0;
}

}  // namespace

Command fit_command() {
  return {
      .name = "fit",
      .summary = "fit scaling laws to a table of losses, and say what to train with a budget",
      .description =
          "One row of the table is a model at an amount of training: columns params, tokens and loss; width, "
          "depth, flops and run where known. Fits approach 1 (hull and binned minima), 2 (isoFLOP parabolas) "
          "and "
          "3 (parametric laws) of Hoffmann et al. 2022, with intervals and leave-out checks.",
      .arguments = {{.name = "TABLE", .doc = "A .csv with a header row, or a .jsonl file."}},
      .flags =
          {{.name = "--output",
            .value = "FOLDER",
            .doc = "Write report.html, the fit as JSON, the advice as CSV and gnuplot files.",
            .completes = Completes::folder},
           {.name = "--title", .value = "TEXT", .doc = "The report's title."},
           {.name = "--law",
            .value = "TERMS",
            .doc = "A form of approach 3, such as width+depth+tokens; those that the table allows otherwise.",
            .repeated = true},
           {.name = "--delta",
            .value = "D",
            .doc = "Where the Huber function on log loss becomes linear; 1e-3 if not given."},
           {.name = "--flops",
            .value = "RULE",
            .doc = "How FLOPs are counted: the table's column, or 6n without one.",
            .choices = {"column", "6n", "narayanan", "gemstones"}},
           {.name = "--seq-length",
            .value = "N",
            .doc = "Of the counts narayanan and gemstones; 2048 if not given."},
           {.name = "--vocab", .value = "N", .doc = "Of the same counts; 50304 if not given."},
           {.name = "--budgets", .value = "C,C", .doc = "FLOPs to prescribe for; powers of ten otherwise."},
           {.name = "--isoflop",
            .value = "C,C",
            .doc = "Budgets of approach 2; chosen from the table otherwise."},
           {.name = "--bootstraps",
            .value = "N",
            .doc = "Resamples for the intervals; 1000 if not given, 0 for none."},
           {.name = "--resample",
            .value = "UNIT",
            .doc = "What a resample draws: single points, or shapes with all their points.",
            .choices = {"points", "shapes"}},
           {.name = "--seed", .value = "N", .doc = "Of the resamples; 1 if not given."},
           {.name = "--column",
            .value = "QUANTITY=NAME",
            .doc = "What a column is called in the table.",
            .repeated = true},
           {.name = "--drop-worst", .value = "N", .doc = "Leave out the N points with the highest loss."},
           {.name = "--skip-bad-rows",
            .doc = "Leave out rows that cannot be used, with a warning each, instead of stopping."}},
      .examples = {{"shoal fit sweep.csv --output runs/laws --budgets 1e18,1e20",
                    "Fit, and write a report with charts."},
                   {"shoal fit sweep.csv --resample shapes",
                    "Intervals that do not take the checkpoints of one run for independent."}},
      .run = run_fit};
}

}  // namespace shoal
