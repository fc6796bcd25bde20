// Scores of memorization in files, and how well one model's scores predict another's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "eval/memorization.h"

namespace shoal {

struct ExtractionSummary {
  int64_t sequences = 0, exact = 0;
  double matched = 0, rouge_l = 0;  // means

  double share() const { return sequences == 0 ? 0 : double(exact) / double(sequences); }
};
ExtractionSummary summary_of(const std::vector<ExtractionScore>& scores);
// One line of JSON; `more` goes before the rest: "\"epochs\":4,".
std::string to_json(const ExtractionSummary& summary, const std::string& more);

// Lines "index,score" without a header, as the evaluations of the Pythia suite are released, the score being
// the share of right tokens; or, with_rouge, a header and "index,matched,rouge_l".
std::string scores_csv(const std::vector<ExtractionScore>& scores, bool with_rouge);

// The scores of a file of either form by index, with or without a header. Throws UserError naming the line.
std::map<int64_t, double> read_scores(const std::string& path);

// Biderman et al. (arXiv 2304.11158): what is memorized (score 1) by a small or an early model, taken as the
// prediction of what a large or the final one memorizes. Over the sequences that both files score.
struct Prediction {
  int64_t sequences = 0;  // in both
  int64_t target = 0, predicted = 0, both = 0;
  double precision() const;  // NaN if nothing is predicted
  double recall() const;     // NaN if nothing is to be predicted
};
Prediction predict(const std::map<int64_t, double>& target, const std::map<int64_t, double>& predictor);

}  // namespace shoal
