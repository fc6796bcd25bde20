#include "eval/score_file.h"

#include <charconv>
#include <fstream>
#include <limits>

#include <fmt/format.h>
#include "base/error.h"

namespace shoal {
namespace {

// With a decimal point, as other programs print it.
std::string number(double value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

double ratio(int64_t part, int64_t whole) {
  return whole == 0 ? std::numeric_limits<double>::quiet_NaN() : double(part) / double(whole);
}

}  // namespace

ExtractionSummary summary_of(const std::vector<ExtractionScore>& scores) {
  ExtractionSummary summary;
  for (const ExtractionScore& score : scores) {
    ++summary.sequences;
    summary.exact += score.exact();
    summary.matched += score.matched / double(scores.size());
    summary.rouge_l += score.rouge_l / double(scores.size());
  }
  return summary;
}

std::string to_json(const ExtractionSummary& summary, const std::string& more) {
  return fmt::format("{{{}\"sequences\":{},\"exact\":{},\"share\":{},\"matched\":{},\"rouge_l\":{}}}\n", more,
                     summary.sequences, summary.exact, summary.share(), summary.matched, summary.rouge_l);
}

std::string scores_csv(const std::vector<ExtractionScore>& scores, bool with_rouge) {
  std::string text = with_rouge ? "index,matched,rouge_l\n" : "";
  for (const ExtractionScore& score : scores) {
    text += fmt::format("{},{}", score.index, number(score.matched));
    if (with_rouge) text += "," + number(score.rouge_l);
    text += '\n';
  }
  return text;
}

std::map<int64_t, double> read_scores(const std::string& path) {
  std::ifstream file(path);
  if (!file) user_error("{}: cannot be read", path);
  std::map<int64_t, double> scores;
  int64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || (number == 1 && line.find_first_of("0123456789") != 0)) continue;
    const auto fail = [&](const std::string& what) {
      throw UserError(Problem{what, fmt::format("{}:{}", path, number), line,
                              "index,score with a score from 0 to 1", ""});
    };
    int64_t index = 0;
    double score = -1;
    const char* end = line.data() + line.size();
    const auto [comma, error] = std::from_chars(line.data(), end, index);
    if (error != std::errc{} || comma == end || *comma != ',') fail("has no index");
    const auto [rest, wrong] = std::from_chars(comma + 1, end, score);
    if (wrong != std::errc{} || (rest != end && *rest != ',' && *rest != '\r') ||
        !(score >= 0 && score <= 1)) {
      fail("has no score");
    }
    if (!scores.emplace(index, score).second) fail("scores a sequence for the second time");
  }
  return scores;
}

double Prediction::precision() const {
  return ratio(both, predicted);
}

double Prediction::recall() const {
  return ratio(both, target);
}

Prediction predict(const std::map<int64_t, double>& target, const std::map<int64_t, double>& predictor) {
  Prediction result;
  for (const auto& [index, score] : predictor) {
    const auto found = target.find(index);
    if (found == target.end()) continue;
    const bool is_target = found->second == 1, is_predicted = score == 1;
    ++result.sequences;
    result.target += is_target;
    result.predicted += is_predicted;
    result.both += is_target && is_predicted;
  }
  return result;
}

}  // namespace shoal
