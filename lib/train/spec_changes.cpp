#include "train/spec_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "optim/schedule.h"
#include "spec/key_table.h"
#include "spec/value.h"

namespace shoal {

namespace {

// Sections end with a dot.
constexpr std::string_view harmless[] = {
    "version",
    "run.name",
    "run.dir",
    "run.resume",
    "run.fork",
    "run.branch",
    "run.allow_changes",
    "run.time_limit_minutes",
    "run.threads",
    "run.device",
    "run.deterministic",
    "checkpoint.",
    "eval.",
    "log.",
    "guard.",
    "trace.",
    "parallel.",
    "batch.micro",
    "precision.recompute",
    "loss.chunk",
    "model.preset",
    "run.steps",
};

bool is_harmless(const std::string& path) {
  const auto covers = [&](std::string_view entry) {
    return entry.back() == '.' ? path.starts_with(entry) : path == entry;
  };
  return std::any_of(std::begin(harmless), std::end(harmless), covers);
}

// The schedule with its lengths as counts, so that run.steps matters only where the schedule follows it.
RunSpec with_resolved_schedule(RunSpec spec) {
  const Schedule schedule(spec.schedule, spec.optimizer.lr, spec.run.steps);
  if (spec.schedule.name == "constant") {
    spec.schedule.decay_steps = 0;
  } else {
    spec.schedule.decay_steps = schedule.end();
  }
  spec.schedule.warmup = schedule.warmup();
  spec.schedule.cooldown = 0;
  spec.schedule.cooldown_start = schedule.cooldown_start();
  if (spec.schedule.name != "wsd") spec.schedule.cooldown_start = -1;
  if (spec.data.seed < 0) spec.data.seed = int64_t(spec.run.seed);
  return spec;
}

template <typename Matters>
std::vector<SpecChange> changes(RunSpec before, RunSpec after, Matters matters) {
  std::vector<SpecChange> found;
  for (const Key& key : key_table()) {
    if (!matters(key.path) || same_value(key, before, after)) continue;
    found.push_back({key.path, value_text(key, before), value_text(key, after)});
  }
  return found;
}

}  // namespace

std::vector<SpecChange> result_changes(const RunSpec& before, const RunSpec& after) {
  return changes(with_resolved_schedule(before), with_resolved_schedule(after),
                 [](const std::string& path) { return !is_harmless(path); });
}

std::vector<SpecChange> shape_changes(const RunSpec& before, const RunSpec& after) {
  return changes(before, after, [](const std::string& path) {
    return (path.starts_with("model.") && path != "model.preset") || path == "optimizer.name";
  });
}

std::string to_text(const std::vector<SpecChange>& changes) {
  std::string text;
  for (const SpecChange& c : changes) text += fmt::format("\n  {}: {} -> {}", c.key, c.before, c.after);
  return text;
}

}  // namespace shoal
