#include "published.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<double> numbers(const std::string& text) {
  std::vector<double> values;
  for (const auto& part : split(text, '|')) values.push_back(std::stod(part));
  return values;
}

std::vector<std::vector<std::string>> rows(const std::string& file) {
  std::ifstream stream(law_data(file));
  std::string line;
  std::getline(stream, line);
  std::vector<std::vector<std::string>> all;
  while (std::getline(stream, line)) all.push_back(split(line, ','));
  return all;
}

shoal::LawTerm term(const std::string& name) {
  for (auto t :
       {shoal::LawTerm::width, shoal::LawTerm::depth, shoal::LawTerm::params, shoal::LawTerm::tokens}) {
    if (shoal::name_of(t) == name) return t;
  }
  throw std::runtime_error("unknown term " + name);
}

}  // namespace

std::vector<PublishedFit> published_fits() {
  std::vector<PublishedFit> fits;
  for (const auto& row : rows("derived_approach3_published_fits.csv")) {
    PublishedFit fit{row[0], row[1], row[2] == "1", std::stod(row[3]), std::stoul(row[4]), {}};
    for (const auto& name : split(row[5], '|')) fit.fit.terms.push_back(term(name));
    fit.fit.exponents = numbers(row[6]);
    fit.fit.coefficients = numbers(row[7]);
    fit.fit.irreducible = std::stod(row[8]);
    fit.fit.objective = std::stod(row[9]);
    fits.push_back(std::move(fit));
  }
  return fits;
}

std::vector<PublishedLine> published_lines() {
  std::vector<PublishedLine> lines;
  for (const auto& row : rows("derived_approach1_published_fits.csv")) {
    lines.push_back({row[0], std::stod(row[1]), std::stod(row[2])});
  }
  return lines;
}

std::vector<shoal::LawPoint> chinchilla() {
  auto points = shoal::read_law_points(law_data("chinchilla/svg_extracted_data.csv"));
  std::vector<double> losses;
  for (const auto& p : points) losses.push_back(p.loss);
  std::sort(losses.rbegin(), losses.rend());
  std::erase_if(points, [&](const auto& p) { return p.loss >= losses[4]; });
  return points;
}
