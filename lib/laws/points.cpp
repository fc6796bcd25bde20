#include "laws/points.h"

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "base/error.h"

namespace shoal {
namespace {

using Row = std::map<std::string, std::string>;

struct Column {
  const char* name;
  std::vector<const char*> spellings;
};
const std::vector<Column> columns = {
    {"params", {"params", "params_active_precise", "Model Size"}},
    {"tokens", {"tokens"}},
    {"loss", {"loss", "final_loss"}},
    {"width", {"width"}},
    {"depth", {"depth"}},
    {"flops", {"flops", "FLOPs", "Training FLOP"}},
};

std::vector<std::string> split_csv(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

double number(const std::string& text, const std::string& where, const char* name) {
  size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || !std::isfinite(value) || value <= 0) {
    throw UserError(Problem{fmt::format("column {} cannot be used", name), where,
                            text.empty() ? "nothing" : text, "a finite number above 0", ""});
  }
  return value;
}

LawPoint to_point(const Row& row, const std::string& where) {
  std::map<std::string, double> value;
  for (const Column& column : columns) {
    for (const char* spelling : column.spellings) {
      auto cell = row.find(spelling);
      if (cell == row.end()) continue;
      value[column.name] = number(cell->second, where, spelling);
      break;
    }
  }
  for (const char* needed : {"params", "loss"}) {
    if (!value.contains(needed)) {
      throw UserError(Problem{fmt::format("there is no column {}", needed), where, "",
                              "params, tokens, loss; optionally width, depth, flops, run", ""});
    }
  }
  if (!value.contains("tokens")) {
    if (!value.contains("flops")) {
      throw UserError(Problem{"there is neither a column tokens nor a column flops", where, "", "", ""});
    }
    value["tokens"] = value["flops"] / (6 * value["params"]);
  }
  LawPoint point{
      "", value["params"], value["tokens"], value["width"], value["depth"], value["flops"], value["loss"]};
  for (const char* spelling : {"run", "run_name"}) {
    if (auto cell = row.find(spelling); cell != row.end()) point.run = cell->second;
  }
  return point;
}

Row json_row(const std::string& line, const std::string& where) {
  Row row;
  const auto object = nlohmann::json::parse(line, nullptr, false);
  if (!object.is_object())
    throw UserError(Problem{"not a JSON object", where, "", "one JSON object a line", ""});
  for (const auto& [key, cell] : object.items())
    row[key] = cell.is_string() ? cell.get<std::string>() : cell.dump();
  return row;
}

}  // namespace

std::vector<LawPoint> read_law_points(const std::string& path) {
  std::ifstream file(path);
  if (!file) user_error("{}: cannot be opened", path);
  const bool json = path.ends_with(".jsonl") || path.ends_with(".json");
  std::vector<LawPoint> points;
  std::vector<std::string> header;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line == "\r") continue;
    const std::string where = fmt::format("{}:{}", path, number);
    if (json) {
      points.push_back(to_point(json_row(line, where), where));
      continue;
    }
    const auto cells = split_csv(line);
    if (header.empty()) {
      header = cells;
      continue;
    }
    if (cells.size() != header.size()) {
      throw UserError(Problem{"the row has another number of columns than the header", where,
                              std::to_string(cells.size()), std::to_string(header.size()), ""});
    }
    Row row;
    for (size_t i = 0; i < cells.size(); ++i) row[header[i]] = cells[i];
    points.push_back(to_point(row, where));
  }
  if (points.empty()) user_error("{}: there is no row of data", path);
  return points;
}

}  // namespace shoal
