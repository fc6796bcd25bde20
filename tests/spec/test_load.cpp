#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "spec/checks.h"
#include "spec/load.h"
#include "spec/suite.h"
#include "temp_folder.h"

using namespace shoal;

namespace {

RunSpec parsed(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  return parse_spec(yaml, "a.yaml", overrides).spec;
}

std::vector<Problem> problems_of(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  try {
    parse_spec(yaml, "a.yaml", overrides);
  } catch (const SpecErrors& errors) {
    CHECK(errors.code() == ExitCode::usage);
    return errors.problems();
  }
  return {};
}

// The only problem of the text.
Problem problem_of(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  const std::vector<Problem> problems = problems_of(yaml, overrides);
  CHECK(problems.size() == 1);
  return problems.empty() ? Problem{} : problems.front();
}

}  // namespace

TEST_CASE("an empty spec is the default spec") {
  CHECK(parsed("").run.steps == RunSpec{}.run.steps);
  CHECK(parsed("version: 1\nrun:\n").run.name == "run");
}

TEST_CASE("values of every type are read") {
  const RunSpec spec = parsed(
      "run: {name: 007, seed: 18446744073709551615, steps: 1e3, deterministic: no}\n"
      "model: {parallel-residual: false, attention_bias: auto, norm: auto, family: gpt_neox}\n"
      "optimizer: {betas: [0.8, 0.99], eps: 1e-8}\n"
      "data:\n  train: [{path: a, weight: 2}, b]\n  valid: c\n");
  CHECK(spec.run.name == "007");
  CHECK(spec.run.seed == UINT64_MAX);
  CHECK(spec.run.steps == 1000);
  CHECK_FALSE(spec.run.deterministic);
  CHECK(spec.model.parallel_residual == false);
  CHECK_FALSE(spec.model.attention_bias.has_value());
  CHECK(spec.model.norm.empty());
  CHECK(spec.model.family == "gpt-neox");
  CHECK(spec.optimizer.betas == std::array<double, 2>{0.8, 0.99});
  CHECK(spec.optimizer.eps == 1e-8);
  REQUIRE(spec.data.train.size() == 2);
  CHECK(spec.data.train[0].weight == 2.0);
  CHECK(spec.data.train[1].path == "b");
  CHECK(spec.data.valid.at(0).path == "c");
}

TEST_CASE("overrides win over files and carry lists, sections and raw texts") {
  const LoadedSpec loaded =
      parse_spec("run: {steps: 5}", "a.yaml",
                 {"run.steps=7", "data.train=[{path: x, weight: 3}, y]", "optimizer={lr: 1e-4}",
                  "run.dir=runs/a: b #1", "run.name='quoted'", "loss.goldfish.k=3", "run.fork="});
  CHECK(loaded.spec.run.steps == 7);
  CHECK(loaded.spec.data.train.size() == 2);
  CHECK(loaded.spec.optimizer.lr == 1e-4);
  CHECK(loaded.spec.run.dir == "runs/a: b #1");
  CHECK(loaded.spec.run.name == "quoted");
  CHECK(loaded.spec.loss.goldfish.k == 3);
  CHECK(loaded.origins.at("run.steps").text == "override");
}

TEST_CASE("files are merged in order and a missing one is reported with the other problems") {
  const test::TempFolder folder;
  std::ofstream(folder / "a.yaml") << "run: {steps: 5, seed: 2}\n";
  std::ofstream(folder / "b.yaml") << "run: {steps: 6}\n";
  const LoadedSpec loaded = load_spec({folder / "a.yaml", folder / "b.yaml"}, {});
  CHECK(loaded.spec.run.steps == 6);
  CHECK(loaded.spec.run.seed == 2);
  CHECK(loaded.origins.at("run.steps").text == folder / "b.yaml" + ":1:14");
  CHECK(loaded.files.size() == 2);
  try {
    load_spec({folder / "missing.yaml", folder / "a.yaml", folder.path()}, {"run.step=4"});
    CHECK(false);
  } catch (const SpecErrors& errors) {
    CHECK(errors.problems().size() == 3);
    CHECK(std::string(errors.what()).find("did you mean run.steps?") != std::string::npos);
  }
}

TEST_CASE("a missing file is reported with one of a near name") {
  const test::TempFolder folder;
  std::ofstream(folder / "demo.yaml") << "version: 1\n";
  try {
    load_spec({folder / "dmeo.yaml"}, {});
    CHECK(false);
  } catch (const SpecErrors& errors) {
    CHECK(errors.problems().at(0).what == "there is no such run spec");
    CHECK(errors.problems().at(0).hint == "did you mean " + folder / "demo.yaml" + "?");
  }
}

TEST_CASE("an unknown key is reported with the nearest one") {
  const Problem near = problem_of("optimizer: {lrate: 1}");
  CHECK(near.what == "unknown key optimizer.lrate");
  CHECK(near.where == "a.yaml:1:13");
  CHECK(near.value == "1");
  CHECK(near.hint == "did you mean optimizer.lr?");
  CHECK(problem_of("optimizer: {warmup: 1}").hint == "did you mean schedule.warmup?");
  CHECK(problem_of("run: {max_steps: 1}").hint == "did you mean run.steps?");
  CHECK(problem_of("seed: 1").hint == "did you mean run.seed?");
  CHECK(problem_of("optimiser: {lr: 1}").hint == "did you mean optimizer?");
  CHECK(problem_of("model: {layers: 1}").hint == "did you mean model.num_layers?");
  CHECK(problem_of("run: {xyzzy: 1}").hint == "");
  CHECK(problem_of("run.steps: 3").hint == "nest it: run: {steps: 3}");
  CHECK(problem_of("", {"run.stps=3"}).hint == "did you mean run.steps?");
  CHECK(problem_of("", {"run.stps=3"}).where == "override 'run.stps=3'");
}

TEST_CASE("a key given twice is reported, also in its other spelling") {
  CHECK(problem_of("run: {steps: 1, steps: 2}").what == "run.steps is given twice");
  CHECK(problem_of("model: {hidden-size: 512, hidden_size: 512}").where == "a.yaml:1:27");
  CHECK(problem_of("run: {steps: 1}\nrun: {seed: 2}").what == "run is given twice");
  CHECK(problem_of("data: {train: [{path: a, path: b}]}").what == "data.train[0].path is given twice");
}

TEST_CASE("wrong types are reported with what is allowed") {
  CHECK(problem_of("run: {steps: many}").what == "run.steps must be an integer");
  CHECK(problem_of("run: {steps: \"3\"}").hint == "leave the quotes out: in quotes it is a text");
  CHECK(problem_of("run: {steps: 1.5}").hint == "it must be whole");
  CHECK(problem_of("run: {steps: [3]}").what == "run.steps must be one value, not a list");
  CHECK(problem_of("run: {steps: }").what == "run.steps has no value");
  CHECK(problem_of("optimizer: {lr: fast}").allowed == "a number above 0");
  CHECK(problem_of("optimizer: {betas: 0.9}").what == "optimizer.betas must be a list of two numbers");
  CHECK(problem_of("optimizer: {betas: [0.9, 1.5]}").allowed ==
        "a list of two numbers, each from 0 to below 1");
  CHECK(problem_of("run: {deterministic: maybe}").allowed == "true or false");
  CHECK(problem_of("model: {family: lama}").hint == "did you mean llama?");
  CHECK(problem_of("data: {train: [{path: a, weight: -1}]}").what == "data.train[0].weight must be a number");
  CHECK(problem_of("batch: 32").what == "batch is a section, it holds keys");
  CHECK(problem_of("[1, 2]").what == "a run spec is a map of sections");
  CHECK(problem_of("run: {name: \"a\\nb\"}").what == "run.name holds characters that cannot be printed");
  CHECK(problem_of("", {"run.steps"}).what == "not an override");
  CHECK(problem_of("", {"data.train.0=a"}).what ==
        "data.train holds no keys of its own, so there is no data.train.0");
}

TEST_CASE("values out of range are reported") {
  CHECK(problem_of("loss: {goldfish: {k: 1}}").what == "loss.goldfish.k is out of range");
  CHECK(problem_of("data: {seed: -2}").allowed == "an integer, 0 or more, or -1");
  CHECK(parsed("data: {seed: -1}").data.seed == -1);
  CHECK(problem_of("guard: {spike_factor: 0.5}").allowed == "a number above 1, or 0");
  CHECK(problem_of("model: {rotary_fraction: 1.5}").allowed == "a number from 0 to 1, or -1");
}

TEST_CASE("another version of the format is refused clearly") {
  const Problem problem = problem_of("version: 2\n");
  CHECK(problem.what == "version is out of range");
  CHECK(problem.hint == "this program reads version 1 of the format; a later one needs a later program");
}

TEST_CASE("all problems are reported together, in the order of the file") {
  const auto problems = problems_of(
      "run: {steps: x}\nfoo: 1\noptimizer: {lr: -1}\nmodel: {num_attention_heads: 7}\n", {"batch.micro=0"});
  REQUIRE(problems.size() == 5);
  CHECK(problems[0].where == "a.yaml:1:14");
  CHECK(problems[1].where == "a.yaml:2:1");
  CHECK(problems[2].where == "a.yaml:3:17");
  CHECK(problems[3].where == "a.yaml:4:30");
  CHECK(problems[4].where == "override 'batch.micro=0'");
}

TEST_CASE("a conflict is not reported when one of its keys could not be read") {
  CHECK(problems_of("batch: {global: x, micro: 7}").size() == 1);
}

TEST_CASE("the excerpt shows the line and points at the column") {
  CHECK(problem_of("run:\n  steps: many\n").excerpt == "    2 |   steps: many\n      |          ^");
}

TEST_CASE("show is read back to the same spec and keeps the origins apart") {
  const LoadedSpec loaded = parse_spec("run: {steps: 5}", "a.yaml", {"run.seed=3"});
  const std::string yaml = to_yaml(loaded, true);
  CHECK(yaml.find("steps: 5                   # a.yaml:1:14") != std::string::npos);
  CHECK(yaml.find("seed: 3                    # override") != std::string::npos);
  CHECK(yaml.find("name: run                  # default") != std::string::npos);
  CHECK(to_yaml(parse_spec(yaml, "b.yaml", {}), false) == to_yaml(loaded, false));
}

TEST_CASE("every spec and every suite in configs is read") {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SHOAL_SOURCE_DIR "/configs")) {
    const std::string path = entry.path().string();
    const std::string folder = entry.path().parent_path().filename().string();
    if (entry.path().extension() != ".yaml" || folder == "presets" || folder == "machines") continue;
    CAPTURE(path);
    if (folder == "grids") {  // laid over a spec
      CHECK_NOTHROW(load_spec({SHOAL_SOURCE_DIR "/configs/demo.yaml", path}, {}));
      continue;
    }
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    if (text.str().find("\nsuite:") != std::string::npos) {
      CHECK(load_suite({path}, {}).runs.size() > 1);
    } else if (text.str().find("\nsweep:") == std::string::npos) {  // those are read in tests/sweep
      CHECK_NOTHROW(load_spec({path}, {}));
    }
  }
}
