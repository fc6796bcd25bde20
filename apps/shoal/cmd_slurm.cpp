#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "cluster/batch_script.h"
#include "shoal/commands.h"
#include "spec/load.h"
#include "train/run_folder.h"

namespace shoal {
namespace {

std::string product(const ParallelSection& p) {
  return fmt::format("x {} * y {} * z {} * data {} = {} ranks", p.x, p.y, p.z, p.data,
                     p.x * p.y * p.z * p.data);
}

// The number of ranks that all specs ask for. Two runs must not share a folder.
int64_t ranks_of(const std::vector<std::string>& files, const std::vector<std::string>& overrides) {
  int64_t ranks = 0;
  std::string first;
  std::set<std::string> folders;
  for (const std::string& file : files) {
    const RunSpec spec = load_spec({file}, overrides).spec;
    const ParallelSection& p = spec.parallel;
    const int64_t here = p.x * p.y * p.z * p.data;
    if (ranks == 0) first = product(p);
    if (ranks != 0 && here != ranks) {
      throw UserError(Problem{.what = "the runs of an array need the same number of ranks",
                              .where = file,
                              .value = product(p),
                              .allowed = fmt::format("as in {}: {}", files.front(), first)});
    }
    ranks = here;
    if (!folders.insert(std::filesystem::path(run_folder_path(spec)).lexically_normal().string()).second) {
      throw UserError(Problem{.what = "two runs of the array have the same folder",
                              .where = file + ": run.dir",
                              .value = run_folder_path(spec),
                              .allowed = "a run.dir or a run.name of its own for each"});
    }
  }
  return ranks;
}

int slurm(const Invocation& given) {
  if (!given.has("--machine")) {
    throw UserError(
        Problem{.what = "a job is written for one machine",
                .where = "--machine",
                .allowed = join_choices(machine_names()) + ", or a YAML file like configs/machines/*.yaml"});
  }
  BatchJob job;
  const Machine machine = load_machine(given.text("--machine"));
  job.specs = given.all("SPEC");
  job.overrides = given.all("KEY=VALUE");
  job.ranks = ranks_of(job.specs, job.overrides);
  job.name = given.text("--name", load_spec({job.specs.front()}, job.overrides).spec.run.name);
  job.minutes = given.integer("--minutes", job.minutes, 1);
  job.lead_seconds = given.integer("--lead", job.lead_seconds, 1, 65535);
  job.account = given.text("--account");
  job.queue = given.text("--queue");
  job.program = given.text("--program", std::filesystem::read_symlink("/proc/self/exe").string());

  const std::string script = batch_script(machine, job);
  if (!given.has("--output")) {
    std::fputs(script.c_str(), stdout);
    return 0;
  }
  std::ofstream out(given.text("--output"), std::ios::binary);
  out << script;
  out.close();
  if (!out) runtime_failure("cannot write {}", given.text("--output"));
  return 0;
}

}  // namespace

Command slurm_command() {
  return {
      .name = "slurm",
      .summary = "write a batch job that trains on a cluster",
      .description =
          "Prints a script for sbatch, or for bsub where the machine is under LSF: ranks as the spec's grid "
          "asks, "
          "bound to cores and GPUs, with the variables of the machine's network. The job is warned before "
          "its time "
          "limit, saves, goes back into the queue and resumes, until training is done. Several specs become "
          "an "
          "array, one task each.",
      .arguments = {{.name = "SPEC",
                     .doc = "A run spec (YAML). Several are the tasks of an array.",
                     .completes = Completes::spec_file,
                     .repeated = true},
                    {.name = "KEY=VALUE",
                     .doc = "Sets one key in every spec.",
                     .completes = Completes::override_key,
                     .required = false,
                     .repeated = true}},
      .flags = {{.name = "--machine",
                 .value = "NAME",
                 .doc = "One of " + join_choices(machine_names()) +
                        ", or a YAML file like configs/machines/*.yaml.",
                 .completes = Completes::file},
                {.name = "--minutes", .value = "N", .doc = "Time limit of one start; 60."},
                {.name = "--lead", .value = "SECONDS", .doc = "How long before the limit it is warned; 180."},
                {.name = "--account", .value = "NAME", .doc = "The project to charge."},
                {.name = "--queue", .value = "NAME", .doc = "Partition or queue; the machine's usual one."},
                {.name = "--name", .value = "NAME", .doc = "The job's name; run.name of the first spec."},
                {.name = "--program",
                 .value = "PATH",
                 .doc = "shoal as the nodes see it; this program's path."},
                {.name = "--output",
                 .value = "FILE",
                 .doc = "Where the script goes; standard output.",
                 .completes = Completes::file}},
      .examples = {{"shoal slurm configs/demo.yaml --machine one-node parallel.data=4 batch.micro=1 | sbatch",
                    "Train on 4 ranks."},
                   {"shoal slurm lr1.yaml lr3.yaml --machine perlmutter --account m1234 --output sweep.sh",
                    "An array of two runs."}},
      .run = slurm};
}

}  // namespace shoal
