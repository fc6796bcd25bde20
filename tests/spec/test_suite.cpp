#include <doctest/doctest.h>

#include <fstream>

#include "spec/suite.h"
#include "temp_folder.h"

using namespace shoal;

namespace {

std::string write(const test::TempFolder& folder, const std::string& suite) {
  const std::string path = folder / "suite.yaml";
  std::ofstream(path) << "version: 1\nrun: {name: tiny, dir: runs/t, steps: 7, seed: 5}\n"
                         "data: {seq_length: 16, train: [{path: corpus}]}\nbatch: {global: 4, micro: 4}\n"
                      << suite;
  return path;
}

}  // namespace

TEST_CASE("suite: sizes x data x seeds, sharing what batches depend on") {
  const test::TempFolder folder;
  const std::string path = write(folder, R"(suite:
  sizes:
    - {name: small, model: {hidden_size: 64, num_attention_heads: 2}}
    - {name: large, model: {hidden_size: 128}, optimizer: {lr: 5e-4, betas: [0.9, 0.99]}}
  data:
    - {name: standard}
    - {name: deduped, train: [{path: other, weight: 2}, {path: corpus}]}
  seeds: [1, 2]
)");
  const Suite suite = load_suite({path}, {"run.steps=9", "model.num_layers=2"});
  REQUIRE(suite.runs.size() == 8);
  CHECK(suite.name == "tiny");
  const SuiteRun& last = suite.runs.back();
  CHECK(last.name == "large-deduped-seed2");
  const RunSpec& spec = last.loaded.spec;
  CHECK(spec.run.dir == "runs/t/large-deduped-seed2");
  CHECK(spec.run.name == "tiny-large-deduped-seed2");
  CHECK(spec.run.seed == 2);
  CHECK(spec.run.steps == 9);
  CHECK(spec.model.hidden_size == 128);
  CHECK(spec.model.num_layers == 2);
  CHECK(spec.optimizer.betas[1] == 0.99);
  CHECK(spec.data.train.size() == 2);
  CHECK(spec.data.train[0].weight == 2);
  CHECK(suite.runs[0].name == "small-standard-seed1");
  CHECK(suite.runs[0].loaded.spec.optimizer.lr == RunSpec{}.optimizer.lr);
  for (const SuiteRun& run : suite.runs) {
    CHECK(run.loaded.spec.data.seed == 5);  // the order does not follow the seeds of the weights
    CHECK(run.loaded.spec.batch.global == 4);
  }
}

TEST_CASE("suite: one size alone, and the runs' keys") {
  const test::TempFolder folder;
  const Suite suite = load_suite({write(folder, "suite: {sizes: [{name: s}]}\n")}, {"data.seed=8"});
  REQUIRE(suite.runs.size() == 1);
  CHECK(suite.runs[0].name == "s");
  CHECK(suite.runs[0].loaded.spec.data.seed == 8);
  CHECK(suite.runs[0].loaded.spec.run.seed == 5);
}

TEST_CASE("suite: mistakes are told with their place") {
  const test::TempFolder folder;
  const auto message = [&](const std::string& suite) -> std::string {
    try {
      load_suite({write(folder, suite)}, {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::pair<const char*, const char*> cases[] = {
      {"", "there is no section suite"},
      {"suite: {}\n", "suite has no sizes"},
      {"suite: {sizes: [{name: a}], colours: [1]}\n", "unknown key suite.colours"},
      {"suite: {sizes: [{model: {hidden_size: 64}}]}\n", "has no name"},
      {"suite: {sizes: [{name: a}, {name: a}]}\n", "two parts of the suite are called a"},
      {"suite: {sizes: [{name: a/b}]}\n", "cannot be a folder's"},
      {"suite: {sizes: [{name: a, data: {seq_length: 8}}]}\n", "a size sets data.seq_length"},
      {"suite: {sizes: [{name: a, batch: {global: 8}}]}\n", "a size sets batch.global"},
      {"suite: {sizes: [{name: a, run: {steps: 8}}]}\n", "a size sets run.steps"},
      {"suite: {sizes: [{name: a}], seeds: [x]}\n", "holds no seed"},
      {"suite: {sizes: [{name: a, model: {hiden_size: 64}}]}\n", "hidden_size"},
  };
  for (const auto& [suite, expected] : cases) {
    CAPTURE(suite);
    CHECK(message(suite).find(expected) != std::string::npos);
  }
  CHECK_THROWS_WITH_AS(load_spec({write(folder, "suite: {sizes: [{name: a}]}\n")}, {}),
                       doctest::Contains("shoal suite train"), SpecErrors);
}
