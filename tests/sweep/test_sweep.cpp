#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <set>

#include "base/error.h"
#include "sweep/run_state.h"
#include "sweep/runner.h"
#include "sweep/sweep.h"
#include "temp_folder.h"

using namespace shoal;

namespace {

std::string write(const test::TempFolder& folder, const std::string& sweep) {
  const std::string path = folder / "sweep.yaml";
  std::ofstream(path) << "version: 1\nrun: {name: tiny, dir: " << (folder / "runs")
                      << ", steps: 100}\nmodel: {hidden_size: 64, num_layers: 2, num_attention_heads: 2, "
                         "vocab_size: 256}\ndata: {seq_length: 16, train: [{path: corpus}]}\n"
                         "batch: {global: 4, micro: 4}\nschedule: {name: constant}\n"
                      << sweep;
  return path;
}

Sweep load(const test::TempFolder& folder, const std::string& sweep) {
  return load_sweep({write(folder, sweep)}, {});
}

std::string error_of(const std::string& sweep) {
  const test::TempFolder folder;
  try {
    load(folder, sweep);
  } catch (const UserError& error) {
    return error.what();
  }
  FAIL("no error: " << sweep);
  return {};
}

}  // namespace

TEST_CASE("sweep: products multiply, pairs go together, seeds multiply both") {
  const test::TempFolder folder;
  const Sweep sweep = load(folder, R"(sweep:
  product: {optimizer.lr: [1e-3, 2e-3, 4e-3], optimizer.weight_decay: [0, 0.1]}
  pairs: {batch.global: [4, 8], run.steps: [100, 50]}
  seeds: [1, 2]
)");
  REQUIRE(sweep.runs.size() == 3 * 2 * 2 * 2);
  std::set<std::string> names;
  for (const SweepRun& run : sweep.runs) {
    names.insert(run.name);
    CHECK(run.loaded.spec.batch.global * run.loaded.spec.run.steps == 400);
    CHECK(run.loaded.spec.run.dir == sweep.dir + "/" + run.name);
  }
  CHECK(names.size() == sweep.runs.size());
  CHECK(sweep.runs.front().name == "lr1e-3-weight_decay0-global4-steps100-seed1");
}

TEST_CASE("sweep: shapes in the window of parameters, with the rate that follows from them") {
  const test::TempFolder folder;
  const Sweep sweep = load(folder, R"(sweep:
  shapes: {width: [32, 64, 128], depth: [1, 2, 4, 8], head_dim: 32, params: [9e4, 2.1e5]}
  lr: {rule: gemstones, effective: 1}
)");
  // 12 w^2 + 13 w a layer and 2 w: 32 has 12,704 a layer, 64 has 49,984, 128 has 198,272.
  std::set<std::string> names;
  for (const SweepRun& run : sweep.runs) {
    names.insert(run.name);
    const RunSpec& spec = run.loaded.spec;
    CHECK(spec.model.num_attention_heads == spec.model.hidden_size / 32);
    CHECK(spec.optimizer.lr ==
          doctest::Approx(1 / (double(spec.model.hidden_size) * std::sqrt(double(spec.model.num_layers)))));
  }
  CHECK(names == std::set<std::string>{"w32-d8", "w64-d2", "w64-d4", "w128-d1"});
  const Sweep mup = load(folder, "sweep: {lr: {rule: mup, effective: 1}, seeds: [1]}\n");
  CHECK(mup.runs.front().loaded.spec.optimizer.lr == doctest::Approx(1.0 / 64));
}

TEST_CASE("sweep: cooldowns branch off at the marks and fall to the end") {
  const test::TempFolder folder;
  const Sweep sweep = load(folder, "sweep: {seeds: [3], cooldowns: {marks: [40, 100], length: 0.1}}\n");
  REQUIRE(sweep.runs.size() == 3);
  CHECK(sweep.runs[0].loaded.spec.checkpoint.keep_every == 20);
  const RunSpec& first = sweep.runs[1].loaded.spec;
  CHECK(sweep.runs[1].parent == 0);
  CHECK(first.run.steps == 44);
  CHECK(first.schedule.cooldown_start == 40);
  CHECK(first.run.branch == sweep.dir + "/seed3/ckpt/step_000040.h5");
  CHECK(!can_start(sweep.runs[1]));
  CHECK(sweep.runs[2].loaded.spec.run.steps == 110);
}

TEST_CASE("sweep: the one in configs is read") {
  const Sweep sweep = load_sweep({SHOAL_SOURCE_DIR "/configs/sweep.yaml"}, {});
  CHECK(sweep.runs.size() == 15 * 3);
}

TEST_CASE("sweep: random draws are the seed's, and lie in their range") {
  const test::TempFolder folder;
  const std::string text =
      "sweep: {random: {count: 20, seed: 7, ranges: {optimizer.lr: [1e-4, 1e-2, log]}}}\n";
  const Sweep first = load(folder, text), second = load(folder, text);
  REQUIRE(first.runs.size() == 20);
  int below = 0;
  for (size_t i = 0; i < first.runs.size(); ++i) {
    const double lr = first.runs[i].loaded.spec.optimizer.lr;
    CHECK(lr == second.runs[i].loaded.spec.optimizer.lr);
    CHECK(lr >= 1e-4);
    CHECK(lr <= 1e-2);
    below += lr < 1e-3;
  }
  CHECK(below > 3);  // half of them on a logarithmic scale
  CHECK(below < 17);
}

TEST_CASE("sweep: what is wrong, and where") {
  const auto says = [](const std::string& sweep, const std::string& words) {
    const std::string text = error_of(sweep);
    INFO(text);
    CHECK(text.find(words) != std::string::npos);
  };
  says("sweep: {product: {optimizer.rl: [1]}}\n", "unknown key optimizer.rl");
  says("sweep: {product: {optimizer.rl: [1]}}\n", "optimizer.lr?");
  says("sweep: {product: {optimizer.rl: [1]}}\n", "sweep.yaml:7:");
  says("sweep: {product: {}}\n", "the product is empty");
  says("sweep: {product: {optimizer.lr: []}}\n", "optimizer.lr has no values");
  says("sweep: {pairs: {optimizer.lr: [1], batch.global: [4, 8]}}\n", "lists of one length in pairs");
  says("sweep: {max_runs: 3, seeds: [1, 2], product: {optimizer.lr: [1, 2]}}\n", "2 * 2 = 4 runs");
  says("sweep: {seeds: [1, 1]}\n", "two runs of the sweep are called seed1");
  says("sweep: {shapes: {width: [32], depth: [1], head_dim: 32, params: [1, 2]}}\n",
       "no shape has a parameter count in the window");
  says("sweep: {seeds: [1], cooldowns: {marks: [101]}}\n", "mark 101 of 100 steps");
  says("sweep: {grid: {}}\n", "unknown key sweep.grid");
  says("", "there is no section sweep");
}

TEST_CASE("sweep: a table of runs that are not done names them") {
  const test::TempFolder folder;
  const Sweep sweep = load(folder, "sweep: {seeds: [1, 2]}\n");
  const auto model = [](const RunSpec& spec) { return resolve_model(spec.model, 256); };
  std::string text;
  try {
    collect_csv(sweep, {.model = model});
  } catch (const UserError& error) {
    text = error.what();
  }
  CHECK(text.find("2 of 2 runs are not done") != std::string::npos);
  CHECK(text.find("seed1, seed2") != std::string::npos);
  CHECK(work_of(sweep.runs[0]) > 0);
}
