#include "sweep/run_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "report/run_log.h"

namespace shoal {
namespace {

std::string last_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string last;
  bool error = false;
  for (std::string line; std::getline(file, line);) {
    // Of an error of several lines the first says what is wrong.
    if (line.find("error:") != std::string::npos) {
      last = line;
      error = true;
    } else if (!error && !line.empty()) {
      last = line;
    }
  }
  return last;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string note_path(const Sweep& sweep, const SweepRun& run) {
  return fmt::format("{}/notes/{}.json", sweep.dir, run.name);
}
std::string log_path(const Sweep& sweep, const SweepRun& run) {
  return fmt::format("{}/notes/{}.log", sweep.dir, run.name);
}
std::string folder_of(const Sweep& sweep, const SweepRun& run) {
  return sweep.dir + "/" + run.name;
}

std::string write_spec(const Sweep& sweep, const SweepRun& run) {
  const std::string path = fmt::format("{}/notes/{}.yaml", sweep.dir, run.name);
  write_whole_file(path, to_yaml(run.loaded, false));
  return path;
}

RunState state_of(const Sweep& sweep, const SweepRun& run) {
  std::ifstream file(note_path(sweep, run));
  const auto note = nlohmann::json::parse(file, nullptr, false);
  if (note.is_discarded() || note.value("spec", "") != to_yaml(run.loaded, false)) return {};
  RunState state;
  state.exit_code = note.value("exit_code", 1);
  state.phase = state.exit_code == 0                        ? RunPhase::done
                : state.exit_code == int(ExitCode::stopped) ? RunPhase::stopped
                                                            : RunPhase::failed;
  state.reason = note.value("reason", "");
  return state;
}

void note_exit(const Sweep& sweep, const SweepRun& run, int exit_code) {
  const nlohmann::json note{{"exit_code", exit_code},
                            {"reason", exit_code == 0 ? "" : last_line(log_path(sweep, run))},
                            {"spec", to_yaml(run.loaded, false)}};
  write_whole_file(note_path(sweep, run), note.dump());
}

bool can_start(const SweepRun& run) {
  return run.parent < 0 || std::filesystem::exists(run.loaded.spec.run.branch);
}

std::string collect_csv(const Sweep& sweep, const CollectOptions& options) {
  std::vector<std::string> missing, keys;
  for (const SweepRun& run : sweep.runs) {
    if (state_of(sweep, run).phase != RunPhase::done) missing.push_back(run.name);
    for (const auto& [key, value] : run.varied) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  if (!missing.empty() && !options.partial) {
    throw UserError(
        Problem{.what = fmt::format("{} of {} runs are not done", missing.size(), sweep.runs.size()),
                .where = sweep.dir,
                .value = join_choices(missing, ", "),
                .hint = "shoal sweep run goes on with them; --partial collects what is there"});
  }
  std::string csv = "run,params,params_non_embedding,width,depth,tokens,step,loss,flops";
  for (const std::string& key : keys) csv += "," + csv_field(key);
  csv += "\n";
  for (const SweepRun& run : sweep.runs) {
    if (state_of(sweep, run).phase != RunPhase::done) continue;
    const RunSpec& spec = run.loaded.spec;
    const report::RunLog log = report::read_run(folder_of(sweep, run));
    std::vector<report::Point> points = log.points("valid_loss");
    if (points.empty())
      throw UserError(Problem{.what = "the run has no validation loss",
                              .where = folder_of(sweep, run),
                              .allowed = "data.valid, or data.split with a share for it"});
    if (!options.every_evaluation) points.erase(points.begin(), points.end() - 1);
    const ModelConfig model = options.model(spec);
    for (const report::Point& point : points) {
      const double tokens = double(point.step) * double(spec.batch.global * spec.data.seq_length);
      csv += fmt::format("{},{},{},{},{},{:.0f},{},{},{:.6g}", csv_field(run.name), model.parameter_count(),
                         model.non_embedding_parameters(), model.hidden_size, model.num_layers, tokens,
                         point.step, std::isnan(point.value) ? "nan" : fmt::format("{}", point.value),
                         tokens * model.train_flops_per_token(spec.data.seq_length));
      for (const std::string& key : keys) {
        const auto found = std::find_if(run.varied.begin(), run.varied.end(),
                                        [&](const auto& pair) { return pair.first == key; });
        csv += "," + (found == run.varied.end() ? "" : csv_field(found->second));
      }
      csv += "\n";
    }
  }
  return csv;
}

}  // namespace shoal
