#include "report/run_log.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"

namespace shoal::report {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void flatten(const ordered_json& value, const std::string& key,
             std::vector<std::pair<std::string, std::string>>& pairs) {
  if (value.is_object()) {
    for (const auto& [name, part] : value.items())
      flatten(part, key.empty() ? name : key + "." + name, pairs);
  } else if (value.is_array()) {
    std::string text;
    for (const auto& part : value) {
      text += (text.empty() ? "" : ", ") + (part.is_string() ? part.get<std::string>() : part.dump());
    }
    pairs.emplace_back(key, text);
  } else {
    pairs.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

void add_record(const ordered_json& record, RunLog& log) {
  const auto step = record.at("step").get<int64_t>();
  const auto tokens = record.value("tokens", int64_t{0});
  for (const auto& [key, value] : record.items()) {
    if (key == "step" || key == "tokens" || !(value.is_number() || value.is_null())) continue;
    auto& points = log.series[key];
    while (!points.empty() && points.back().step >= step) points.pop_back();
    points.push_back({step, tokens, value.is_null() ? std::nan("") : value.get<double>()});
  }
}

// Evaluation records have no tokens: they take those of the training step they belong to.
void fill_tokens(RunLog& log) {
  const auto& steps = log.points("loss");
  for (auto& [key, points] : log.series) {
    size_t i = 0;
    for (auto& point : points) {
      while (i < steps.size() && steps[i].step < point.step) ++i;
      if (point.tokens == 0 && i < steps.size()) point.tokens = steps[i].tokens;
    }
  }
}

// Of several results for the same number of epochs the last one counts.
std::vector<Memorization> read_memorization(const std::string& text) {
  std::map<int64_t, Memorization> by_epochs;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto record = ordered_json::parse(line, nullptr, false);
    if (!record.is_object() || !record.contains("epochs")) continue;
    const auto number = [&](const char* key) {
      return record.contains(key) && record[key].is_number() ? record[key].get<double>() : 0;
    };
    const auto epochs = int64_t(number("epochs"));
    by_epochs[epochs] = {epochs,          int64_t(number("tokens")), int64_t(number("sequences")),
                         number("share"), number("matched"),         number("rouge_l")};
  }
  std::vector<Memorization> found;
  for (const auto& [epochs, result] : by_epochs) found.push_back(result);
  return found;
}

TrafficLog read_traffic(const std::string& text) {
  TrafficLog log;
  const auto json = ordered_json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("labels") || !json["labels"].is_array()) return log;
  const auto number = [](const ordered_json& object, const char* key) {
    return object.contains(key) && object[key].is_number() ? object[key].get<double>() : 0;
  };
  if (json.contains("grid") && json["grid"].is_object()) {
    for (const auto& [axis, size] : json["grid"].items())
      log.grid += (log.grid.empty() ? "" : ", ") + axis + " " + size.dump();
  }
  log.steps = number(json, "steps");
  log.seconds = number(json, "seconds");
  std::map<std::string, TrafficPurpose> purposes;
  for (const auto& entry : json["labels"]) {
    if (!entry.is_object() || !entry.contains("label") || !entry["label"].is_string()) continue;
    const auto label = entry["label"].get<std::string>();
    TrafficPurpose& purpose = purposes[label.substr(0, label.find(' '))];
    purpose.calls += number(entry, "calls");
    purpose.ring_bytes += number(entry, "ring_bytes");
    purpose.wait_seconds += number(entry, "wait_seconds");
    purpose.under_way_seconds += number(entry, "under_way_seconds");
  }
  for (auto& [name, purpose] : purposes) {
    purpose.name = name;
    log.purposes.push_back(purpose);
  }
  return log;
}

}  // namespace

const std::vector<Point>& RunLog::points(const std::string& key) const {
  static const std::vector<Point> none;
  const auto found = series.find(key);
  return found == series.end() ? none : found->second;
}

void read_metrics(const std::string& text, RunLog& log) {
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t newline = text.find('\n', begin);
    const bool complete = newline != std::string::npos;
    const std::string line = text.substr(begin, complete ? newline - begin : std::string::npos);
    begin = complete ? newline + 1 : text.size();
    if (line.find_first_not_of(" \r") == std::string::npos) continue;
    const auto record = ordered_json::parse(line, nullptr, false);
    if (record.is_object() && record.contains("step") && record["step"].is_number_integer()) {
      add_record(record, log);
    } else if (complete) {
      ++log.unreadable_lines;
    }
  }
  fill_tokens(log);
}

RunLog read_run(const fs::path& folder) {
  const fs::path metrics = folder / "metrics.jsonl";
  if (!fs::is_regular_file(metrics)) {
    throw UserError(Problem{.what = "there is no run to report on",
                            .where = folder.string(),
                            .value = "",
                            .allowed = "a run folder, with a metrics.jsonl that `shoal train` wrote",
                            .hint = ""});
  }
  RunLog log;
  log.folder = folder.string();
  const fs::path whole = fs::absolute(folder).lexically_normal();
  log.name = (whole.has_filename() ? whole : whole.parent_path()).filename().string();
  read_metrics(read_text(metrics), log);
  log.resolved_spec = read_text(folder / "resolved.yaml");
  log.samples = read_text(folder / "samples.txt");
  log.memorization = read_memorization(read_text(folder / "memorization.jsonl"));
  log.traffic = read_traffic(read_text(folder / "traffic.json"));
  const auto environment = ordered_json::parse(read_text(folder / "env.json"), nullptr, false);
  if (environment.is_object()) flatten(environment, "", log.environment);
  return log;
}

}  // namespace shoal::report
