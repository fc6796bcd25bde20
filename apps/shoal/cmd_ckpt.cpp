#include <fmt/chrono.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/units.h"
#include "checkpoint/diff.h"
#include "checkpoint/store.h"
#include "shoal/commands.h"
#include "shoal/suite_list.h"
#include "spec/load.h"

namespace shoal {
namespace {

void warn(const std::string& line) {
  std::fprintf(stderr, "shoal: warning: %s\n", line.c_str());
}

std::vector<StoredCheckpoint> list_of(const std::string& path) {
  std::vector<StoredCheckpoint> all = CheckpointStore(checkpoint_folder_of(path), {}).list();
  if (all.empty()) {
    throw UserError(Problem{
        .what = "there is no checkpoint", .where = path, .allowed = "the folder of a run that has one"});
  }
  return all;
}

// The retention of the run itself, from the spec in its newest good checkpoint.
std::optional<Retention> retention_of(const std::vector<StoredCheckpoint>& all) {
  for (auto newest = all.rbegin(); newest != all.rend(); ++newest) {
    if (!newest->problem.empty()) continue;
    try {
      const CheckpointReader reader(newest->path);
      const CheckpointSection section = parse_spec(reader.info().spec_yaml, newest->path, {}).spec.checkpoint;
      return Retention{section.keep_last, section.keep_every, section.schedule == "pythia"};
    } catch (const Error& e) {
      warn(e.what());
    }
  }
  return std::nullopt;
}

int list(const Invocation& given) {
  if (const auto runs = runs_in(given.text("RUN")); !runs.empty()) return list_suite(runs);
  const std::vector<StoredCheckpoint> all = list_of(given.text("RUN"));
  const std::optional<Retention> retention = retention_of(all);
  fmt::print("{:>9}  {:>12}  {:>8}  {:<16}  {:<11}  {}\n", "step", "samples", "size", "written", "kept by",
             "state");
  for (const StoredCheckpoint& c : all) {
    const bool counts = retention && c.problem.empty();
    const std::string kept = counts ? CheckpointStore("", *retention).kept_by(c.step, all) : "";
    fmt::print("{:>9}  {:>12}  {:>8}  {:%Y-%m-%d %H:%M}  {:<11}  {}\n", c.step, c.consumed_samples,
               format_bytes(double(c.bytes)), fmt::localtime(std::time_t(c.modified)),
               kept.empty() ? "-" : kept, c.problem.empty() ? "sealed" : c.problem);
  }
  return 0;
}

int verify(const Invocation& given) {
  const std::string path = given.text("PATH");
  std::vector<std::string> files{path};
  if (!std::filesystem::is_regular_file(path)) {
    files.clear();
    for (const StoredCheckpoint& c : list_of(path)) files.push_back(c.path);
  }
  int damaged = 0;
  for (const std::string& file : files) {
    try {
      CheckpointReader reader(file);
      reader.verify();
      fmt::print("{}: good, {} tensors\n", file, reader.entries().size());
    } catch (const RuntimeFailure& e) {
      fmt::print("{}\n", e.what());
      ++damaged;
    }
  }
  return damaged == 0 ? 0 : 1;
}

int diff(const Invocation& given) {
  CheckpointReader a = open_checkpoint(given.text("A"), warn), b = open_checkpoint(given.text("B"), warn);
  const CheckpointDiff found = diff_checkpoints(a, b);
  fmt::print("A  {}\nB  {}\n", a.path(), b.path());
  for (const std::string& line : found.spec) fmt::print("spec   {}\n", line);
  for (const std::string& line : found.state) fmt::print("state  {}\n", line);
  size_t width = 6;
  for (const TensorDifference& t : found.tensors) width = std::max(width, t.name.size());
  if (!found.tensors.empty()) {
    fmt::print("{:<{}}  {:>11}  {:>11}  {:>9}  {:>9}  {:>9}\n", "tensor", width, "|a|", "|b|", "|a-b|",
               "largest", "relative");
  }
  for (const TensorDifference& t : found.tensors) {
    if (!t.problem.empty()) {
      fmt::print("{:<{}}  {}\n", t.name, width, t.problem);
    } else {
      fmt::print("{:<{}}  {:>11.6g}  {:>11.6g}  {:>9.2e}  {:>9.2e}  {:>9.2e}\n", t.name, width, t.norm_a,
                 t.norm_b, t.norm_difference, t.max_abs, t.max_rel);
    }
  }
  fmt::print("{} tensors are bit-equal, {} differ: {}\n", found.equal_tensors, found.tensors.size(),
             found.same_state() ? "the same training state" : "different");
  return found.same_state() ? 0 : 1;
}

}  // namespace

Command ckpt_command() {
  Command group{.name = "ckpt", .summary = "list, verify and compare checkpoints"};
  group.commands = {
      {.name = "ls",
       .summary = "list the checkpoints of a run or a suite",
       .description = "Step, samples used, size, time, and which rule of checkpoint.keep_last, keep_every or "
                      "schedule keeps each "
                      "one. Reads the seal at the beginning of each file and its length; `shoal ckpt verify` "
                      "reads all of it.",
       .arguments = {{.name = "RUN",
                      .doc = "A run's folder, or a suite's: then a table of its revisions, stepN, by run.",
                      .completes = Completes::folder}},
       .examples = {{"shoal ckpt ls runs/demo", "What the demo has saved."},
                    {"shoal ckpt ls runs/suite", "Which revisions of each run of a suite are there."}},
       .run = list},
      {.name = "verify",
       .summary = "read checkpoints in full and check every hash",
       .description = "Exit code 1 if any is damaged.",
       .arguments = {{.name = "PATH", .doc = "A checkpoint file, or a run's folder: all of them."}},
       .examples = {{"shoal ckpt verify runs/demo", "Every checkpoint of the demo."}},
       .run = verify},
      {.name = "diff",
       .summary = "compare two checkpoints",
       .description = "Prints the keys of the spec that differ, then what differs in the training state: "
                      "position, small state, and "
                      "each tensor with its Euclidean norms, that of the difference, and the largest "
                      "difference of an element, absolute "
                      "and relative. Exit code 0 if the training state "
                      "is the same bit for bit, "
                      "whatever the specs say, else 1. A folder stands for its newest good checkpoint.",
       .arguments = {{.name = "A", .doc = "A checkpoint file or a run's folder."},
                     {.name = "B", .doc = "The same, to compare with."}},
       .examples = {{"shoal ckpt diff runs/a runs/b", "Did two runs end with the same weights?"}},
       .run = diff}};
  return group;
}

}  // namespace shoal
