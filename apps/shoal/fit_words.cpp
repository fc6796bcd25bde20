#include "shoal/fit_words.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/error.h"

namespace shoal {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// "1e18,1e20"
std::vector<double> numbers(const Invocation& given, const std::string& flag) {
  std::vector<double> values;
  for (const std::string& part : split(given.text(flag), ',')) {
    double value = 0;
    const char* end = part.data() + part.size();
    const auto [rest, error] = std::from_chars(part.data(), end, value);
    if (error != std::errc() || rest != end || !(value > 0)) {
      throw UserError(
          Problem{"not a list of numbers", flag, given.text(flag), "numbers above 0, as in 1e18,1e20", ""});
    }
    values.push_back(value);
  }
  return values;
}

LawForm form_of(const std::string& text) {
  LawForm form;
  for (const std::string& name : split(text, '+')) {
    const size_t before = form.size();
    for (LawTerm term : {LawTerm::width, LawTerm::depth, LawTerm::params, LawTerm::tokens}) {
      if (name == name_of(term) && std::find(form.begin(), form.end(), term) == form.end())
        form.push_back(term);
    }
    if (form.size() == before) {
      throw UserError(Problem{"unknown term of a law, or one given twice", "--law", text,
                              "width, depth, params and tokens, joined by +",
                              "for example --law params+tokens"});
    }
  }
  return form;
}

}  // namespace

LawTableOptions fit_table_options(const Invocation& given) {
  LawTableOptions options;
  options.skip_bad_rows = given.has("--skip-bad-rows");
  for (const std::string& text : given.all("--column")) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      throw UserError(Problem{"a column needs a quantity and a name", "--column", text, "QUANTITY=NAME",
                              "for example --column loss=valid_loss"});
    }
    options.columns[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return options;
}

namespace {

FlopsRule flops_rule(const std::string& name, const std::vector<LawPoint>& points) {
  if (name == "6n") return FlopsRule::six_n;
  if (name == "narayanan") return FlopsRule::narayanan;
  if (name == "gemstones") return FlopsRule::gemstones;
  const bool counted =
      std::all_of(points.begin(), points.end(), [](const LawPoint& p) { return p.flops > 0; });
  return name == "column" || counted ? FlopsRule::column : FlopsRule::six_n;
}

}  // namespace

StudyOptions fit_study_options(const Invocation& given, const std::vector<LawPoint>& points) {
  StudyOptions options;
  options.flops.rule = flops_rule(given.text("--flops"), points);
  options.flops.sizes.seq_length = given.number("--seq-length", 2048, 1, 1e9);
  options.flops.sizes.vocab = given.number("--vocab", 50304, 1, 1e9);
  for (const std::string& text : given.all("--law")) options.forms.push_back(form_of(text));
  options.delta = given.number("--delta", 1e-3, 1e-9, 10);
  options.isoflop = numbers(given, "--isoflop");
  options.budgets = numbers(given, "--budgets");
  options.bootstraps = int(given.integer("--bootstraps", 1000, 0, 1'000'000));
  if (given.text("--resample") == "shapes") options.resample = Resample::shapes;
  options.seed = uint64_t(given.integer("--seed", 1, 0));
  return options;
}

}  // namespace shoal
