#include "laws/points.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

#include "base/error.h"
#include "base/philox.h"
#include "base/text.h"

namespace shoal {
namespace {

constexpr double same_size = 0.002;  // relative

using Row = std::map<std::string, std::string>;

struct Column {
  const char* name;
  std::vector<std::string> spellings;
};
const std::vector<Column> known_columns = {
    {"run", {"run", "run_name"}},
    {"params", {"params", "params_active_precise", "Model Size"}},
    {"tokens", {"tokens"}},
    {"loss", {"loss", "final_loss"}},
    {"width", {"width"}},
    {"depth", {"depth"}},
    {"flops", {"flops", "FLOPs", "Training FLOP"}},
};

std::vector<Column> columns_of(const LawTableOptions& options) {
  std::vector<Column> columns = known_columns;
  for (const auto& [name, spelling] : options.columns) {
    const auto column =
        std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == name; });
    if (column == columns.end()) {
      throw UserError(Problem{"there is no such quantity", "--column", name,
                              "run, params, tokens, loss, width, depth, flops", ""});
    }
    column->spellings = {spelling};
  }
  return columns;
}

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

double number(const std::string& text, const std::string& where, const std::string& name) {
  size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || !std::isfinite(value) || value <= 0) {
    throw UserError(Problem{fmt::format("column {} cannot be used", name), where,
                            text.empty() ? "nothing" : text, "a finite number above 0",
                            "leave the row out, or give --skip-bad-rows"});
  }
  return value;
}

LawPoint to_point(const Row& row, const std::string& where, const std::vector<Column>& columns) {
  std::map<std::string, double> value;
  LawPoint point;
  for (const Column& column : columns) {
    for (const std::string& spelling : column.spellings) {
      const auto cell = row.find(spelling);
      if (cell == row.end()) continue;
      if (column.name == std::string("run")) {
        point.run = cell->second;
      } else {
        value[column.name] = number(cell->second, where, spelling);
      }
      break;
    }
  }
  for (const char* needed : {"params", "loss"}) {
    if (value.contains(needed)) continue;
    throw UserError(Problem{fmt::format("there is no column {}", needed), where, "",
                            "params, tokens, loss; optionally width, depth, flops, run",
                            fmt::format("--column {}=NAME says what it is called", needed)});
  }
  if (!value.contains("tokens")) {
    if (!value.contains("flops")) {
      throw UserError(Problem{"there is neither a column tokens nor a column flops", where, "", "", ""});
    }
    value["tokens"] = value["flops"] / (6 * value["params"]);
  }
  point.params = value["params"];
  point.tokens = value["tokens"];
  point.width = value["width"];
  point.depth = value["depth"];
  point.flops = value["flops"];
  point.loss = value["loss"];
  point.row = where;
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

// The header must know every column that was asked for by name, so that a typing error is not taken for a
// table without it.
void check_header(const std::vector<std::string>& header, const LawTableOptions& options,
                  const std::string& where) {
  for (const auto& [name, spelling] : options.columns) {
    if (std::find(header.begin(), header.end(), spelling) != header.end()) continue;
    throw UserError(Problem{fmt::format("there is no column {} for {}", spelling, name), where, "",
                            join_choices(header, ", "), ""});
  }
}

std::string without_mark(std::string line) {  // of byte order, which spreadsheets write
  if (line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  return line;
}

}  // namespace

std::string describe(const LawPoint& point) {
  if (point.row.empty()) return "run " + (point.run.empty() ? "?" : point.run);
  return point.row + (point.run.empty() ? "" : " (run " + point.run + ")");
}

LawTable read_law_table(const std::string& path, const LawTableOptions& options) {
  std::ifstream file(path);
  if (!file) user_error("{}: cannot be opened", path);
  const bool json = path.ends_with(".jsonl") || path.ends_with(".json");
  const std::vector<Column> columns = columns_of(options);
  LawTable table;
  std::vector<std::string> header;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line == "\r") continue;
    const std::string where = fmt::format("{}:{}", path, number);
    Row row;
    if (json) {
      row = json_row(line, where);
    } else {
      const auto cells = split_csv(header.empty() ? without_mark(line) : line);
      if (header.empty()) {
        header = cells;
        check_header(header, options, where);
        continue;
      }
      if (cells.size() != header.size()) {
        throw UserError(Problem{"the row has another number of columns than the header", where,
                                std::to_string(cells.size()), std::to_string(header.size()), ""});
      }
      for (size_t i = 0; i < cells.size(); ++i) row[header[i]] = cells[i];
    }
    try {
      table.points.push_back(to_point(row, where, columns));
    } catch (const UserError& error) {
      if (!options.skip_bad_rows) throw;
      const std::string text = error.what();
      table.warnings.push_back("left out: " + text.substr(0, text.find("\n  hint")));
    }
  }
  if (table.points.empty())
    user_error("{}: there is no row of data{}", path, table.warnings.empty() ? "" : " that can be used");
  return table;
}

std::vector<LawPoint> read_law_points(const std::string& path) {
  return read_law_table(path).points;
}

void drop_worst(std::vector<LawPoint>& points, size_t count) {
  if (count == 0) return;
  if (count >= points.size()) user_error("--drop-worst {} leaves nothing of {} points", count, points.size());
  std::vector<double> losses;
  for (const LawPoint& p : points) losses.push_back(p.loss);
  std::sort(losses.rbegin(), losses.rend());
  std::erase_if(points, [limit = losses[count - 1]](const LawPoint& p) { return p.loss >= limit; });
}

std::vector<std::vector<size_t>> by_shape(const std::vector<LawPoint>& points) {
  std::vector<size_t> order(points.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto key = [&points](size_t i) {
    return std::tuple(points[i].width, points[i].depth, points[i].params, i);
  };
  std::sort(order.begin(), order.end(), [&key](size_t a, size_t b) { return key(a) < key(b); });
  std::vector<std::vector<size_t>> groups;
  for (size_t i : order) {
    const LawPoint* first = groups.empty() ? nullptr : &points[groups.back().front()];
    if (first == nullptr || points[i].width != first->width || points[i].depth != first->depth ||
        points[i].params > first->params * (1 + same_size)) {
      groups.emplace_back();
    }
    groups.back().push_back(i);
  }
  std::stable_sort(groups.begin(), groups.end(), [&points](const auto& a, const auto& b) {
    return points[a.front()].params < points[b.front()].params;
  });
  return groups;
}

std::vector<double> resample_weights(const std::vector<LawPoint>& points, Resample unit, uint64_t seed,
                                     uint64_t n) {
  const Philox random(seed, n);
  std::vector<double> weights(points.size(), 0.0);
  const auto draw = [&random](uint64_t i, size_t of) { return size_t(random.uniform(i) * double(of)); };
  if (unit == Resample::points) {
    for (uint64_t i = 0; i < points.size(); ++i) weights[draw(i, points.size())] += 1;
    return weights;
  }
  const auto shapes = by_shape(points);
  for (uint64_t i = 0; i < shapes.size(); ++i) {
    for (size_t member : shapes[draw(i, shapes.size())]) weights[member] += 1;
  }
  return weights;
}

}  // namespace shoal
