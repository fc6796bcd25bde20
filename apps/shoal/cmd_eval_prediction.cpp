#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "eval/score_file.h"
#include "shoal/commands.h"

namespace shoal {
namespace {

std::string rounded(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.3f}", value);
}

int prediction(const Invocation& given) {
  const std::string target = given.text("TARGET");
  const std::map<int64_t, double> scores = read_scores(target);
  fmt::print("{:<24}  {:>10}  {:>10}  {:>10}  {:>10}  {:>9}  {:>7}\n", "predictor", "sequences", "memorized",
             "by both", "of target", "precision", "recall");
  for (const std::string& path : given.all("PREDICTOR")) {
    const Prediction p = predict(scores, read_scores(path));
    fmt::print("{:<24}  {:>10}  {:>10}  {:>10}  {:>10}  {:>9}  {:>7}\n",
               std::filesystem::path(path).stem().string(), p.sequences, p.predicted, p.both, p.target,
               rounded(p.precision()), rounded(p.recall()));
  }
  return 0;
}

}  // namespace

Command eval_prediction_command() {
  return {
      .name = "prediction",
      .summary = "how well small or early models predict what another one memorizes",
      .description =
          "Takes scores as `shoal eval memorization --output` writes them. What the predictor memorizes "
          "(score 1) is the prediction of what the target memorizes; a row for each predictor, over the "
          "sequences that both files score.",
      .arguments = {{.name = "TARGET", .doc = "The scores of the large or the final model."},
                    {.name = "PREDICTOR", .doc = "The scores of small or early models.", .repeated = true}},
      .examples = {{"shoal eval prediction 12b.csv 70m.csv 160m.csv 410m.csv", "One model size for another."},
                   {"shoal eval prediction step143000.csv step23000.csv step63000.csv",
                    "Early checkpoints for the final one."}},
      .run = prediction};
}

}  // namespace shoal
