#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "base/error.h"
#include "cluster/batch_script.h"
#include "temp_folder.h"

using namespace shoal;

namespace {

BatchJob job(int64_t ranks) {
  return {.name = "demo",
          .ranks = ranks,
          .account = "m1234",
          .program = "/opt/shoal/bin/shoal",
          .specs = {"a.yaml"},
          .overrides = {}};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

template <typename F>
std::string error_of(F&& call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("every machine's job is a shell script without a gap in it") {
  const test::TempFolder folder;
  for (const std::string& name : machine_names()) {
    CAPTURE(name);
    BatchJob array = job(8);
    array.specs = {"a.yaml", "with space.yaml", "it's.yaml"};
    array.overrides = {"data.train=[{path: x}]"};
    const std::string script = batch_script(load_machine(name), array);
    CHECK(has(script, "'it'\\''s.yaml'"));
    for (size_t at = script.find('@'); at != std::string::npos; at = script.find('@', at + 1)) {
      const char next = script[at + 1];  // "$@" and "USR1@180" stay
      CHECK_MESSAGE((next == '"' || (next >= '0' && next <= '9')), script.substr(at, 20));
    }
    const std::string path = folder / "job.sh";
    std::ofstream(path) << script;
    CHECK(std::system(("bash -n '" + path + "'").c_str()) == 0);
  }
}

TEST_CASE("ranks are bound to the GPUs of a machine") {
  const std::string perlmutter = batch_script(load_machine("perlmutter"), job(8));
  CHECK(has(perlmutter, "#SBATCH --nodes=2\n#SBATCH --ntasks=8\n#SBATCH --ntasks-per-node=4\n"));
  CHECK(has(perlmutter, "#SBATCH --account=m1234\n"));
  CHECK(has(perlmutter, "CUDA_VISIBLE_DEVICES=$((3 - SLURM_LOCALID))"));
  CHECK(has(perlmutter, "export NCCL_NET='AWS Libfabric'\n"));

  const std::string frontier = batch_script(load_machine("frontier"), job(16));
  CHECK(has(frontier, "#SBATCH --nodes=2\n"));
  CHECK(has(frontier,
            "srun --cpus-per-task=7 --gpus-per-task=1 --gpu-bind=closest /opt/shoal/bin/shoal train"));

  const std::string summit = batch_script(load_machine("summit"), job(12));
  CHECK(has(summit, "#BSUB -nnodes 2\n"));
  CHECK(has(summit, "#BSUB -Q 75\n"));
  CHECK(has(summit, "jsrun -n 12 -r 6 -a 1 -g 1 -c 7 -b rs"));
  CHECK(has(summit, "run.time_limit_minutes=57.00"));
}

TEST_CASE("fewer ranks than a node holds take one node") {
  CHECK(has(batch_script(load_machine("perlmutter"), job(2)),
            "--nodes=1\n#SBATCH --ntasks=2\n#SBATCH --ntasks-per-node=2"));
  CHECK(has(batch_script(load_machine("one-node"), job(64)), "--nodes=1\n#SBATCH --ntasks=64\n"));
}

TEST_CASE("several specs are an array") {
  BatchJob array = job(1);
  CHECK(!has(batch_script(load_machine("one-node"), array), "--array"));
  array.specs = {"a.yaml", "b.yaml", "c.yaml"};
  CHECK(has(batch_script(load_machine("one-node"), array), "#SBATCH --array=0-2\n"));
  CHECK(has(batch_script(load_machine("summit"), array), "#BSUB -J \"demo[1-3]\"\n"));
}

TEST_CASE("what does not go together is said") {
  CHECK(has(error_of([] { load_machine("perlmuter"); }), "did you mean perlmutter?"));
  CHECK(has(error_of([] { load_machine("none/of.yaml"); }), "none/of.yaml: cannot read"));
  BatchJob poor = job(4);
  poor.account.clear();
  CHECK(has(error_of([&] { batch_script(load_machine("frontier"), poor); }), "--account NAME"));
  BatchJob hasty = job(4);
  hasty.minutes = 3;
  CHECK(
      has(error_of([&] { batch_script(load_machine("one-node"), hasty); }), "180 s before a limit of 3 min"));
}

TEST_CASE("a machine's file is read strictly") {
  const auto error = [](const std::string& yaml) {
    return error_of([&] { parse_machine(yaml, "mine", "mine.yaml"); });
  };
  CHECK(error("scheduler: slurm\nlaunch: srun\n").empty());
  CHECK(has(error("scheduler: slurm\n"), "mine.yaml: the machine has no launch"));
  CHECK(has(error("scheduler: slurm\nlaunch: srun\nnodes: 3\n"), "mine.yaml:3:1: unknown key of a machine"));
  CHECK(has(error("scheduler: pbs\n"), "lsf or slurm"));
  CHECK(has(error("ranks_per_node: four\n"), "mine.yaml:1:17"));
  CHECK(has(error("options: --exclusive\n"), "a list is expected"));
  CHECK(has(error("environment: [A]\n"), "a map of variables is expected"));
  CHECK(has(error("launch: [\n"), "mine.yaml:"));
}
