#include "cluster/batch_script.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/error.h"
#include "cluster/embedded.h"

namespace shoal {
namespace {

using Values = std::map<std::string, std::string>;

// Every @name@ by its value; an @ that begins no known name stays.
std::string filled(const std::string& text, const Values& values) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text[at] == '@' ? text.find('@', at + 1) : std::string::npos;
    const auto value =
        end == std::string::npos ? values.end() : values.find(text.substr(at + 1, end - at - 1));
    if (value == values.end()) {
      out += text[at++];
    } else {
      out += value->second;
      at = end + 1;
    }
  }
  return out;
}

// One word of a shell command, whatever is in it.
std::string quoted(const std::string& word) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string quoted(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + quoted(word);
  return out;
}

void check(const Machine& machine, const BatchJob& job) {
  if (machine.account_needed && job.account.empty()) {
    throw UserError(Problem{.what = fmt::format("jobs on {} need an account", machine.name),
                            .where = "--account",
                            .hint = "give the project to charge: --account NAME"});
  }
  if (job.lead_seconds >= job.minutes * 60) {
    throw UserError(
        Problem{.what = "the job would be asked to stop before it starts",
                .where = "--lead",
                .value = fmt::format("{} s before a limit of {} min", job.lead_seconds, job.minutes),
                .allowed = "less than the time limit"});
  }
}

// What comes from the command line: the lines of the scheduler that only some jobs have.
std::string options(const Machine& machine, const BatchJob& job, const Values& values) {
  const bool lsf = machine.scheduler == "lsf";
  const std::string prefix = lsf ? "#BSUB " : "#SBATCH ";
  std::vector<std::string> lines;
  const std::string queue = job.queue.empty() ? machine.queue : job.queue;
  if (!job.account.empty()) lines.push_back((lsf ? "-P " : "--account=") + quoted(job.account));
  if (!queue.empty()) lines.push_back((lsf ? "-q " : "--partition=") + quoted(queue));
  if (!lsf && job.specs.size() > 1) lines.push_back("--array=0-@last@");
  lines.insert(lines.end(), machine.options.begin(), machine.options.end());
  std::string text;
  for (const std::string& line : lines) text += prefix + filled(line, values) + "\n";
  return text;
}

}  // namespace

std::string batch_script(const Machine& machine, const BatchJob& job) {
  check(machine, job);
  const int64_t most = machine.ranks_per_node > 0 ? machine.ranks_per_node : job.ranks;
  const int64_t nodes = (job.ranks + most - 1) / most;
  Values values = {
      {"name", job.name},
      {"machine", machine.name},
      {"summary", machine.summary},
      {"ranks", std::to_string(job.ranks)},
      {"nodes", std::to_string(nodes)},
      {"ranks_per_node", std::to_string(std::min(most, job.ranks))},
      {"cores", std::to_string(machine.cores_per_rank)},
      {"minutes", std::to_string(job.minutes)},
      {"lead_seconds", std::to_string(job.lead_seconds)},
      {"stop_minutes", fmt::format("{:.2f}", double(job.minutes) - double(job.lead_seconds) / 60)},
      {"program", quoted(job.program)},
      {"specs", quoted(job.specs)},
      {"last", std::to_string(job.specs.size() - 1)},
      {"tasks", std::to_string(job.specs.size())},
      {"overrides", quoted(job.overrides)},
  };
  const std::string scheduler_options = options(machine, job, values);
  std::string setup, environment;
  for (const std::string& line : machine.setup) setup += filled(line, values) + "\n";
  for (const auto& [name, value] : machine.environment) {
    environment += fmt::format("export {}={}\n", name, quoted(filled(value, values)));
  }
  values["options"] = scheduler_options;
  values["setup"] = setup;
  values["environment"] = environment;
  values["launch"] = filled(machine.launch, values);
  for (const EmbeddedFile& file : embedded_templates()) {
    if (file.name == machine.scheduler + ".sh") return filled(file.text, values);
  }
  SHOAL_CHECK(false);
}

}  // namespace shoal
