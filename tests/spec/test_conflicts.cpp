// Pairs of values that contradict each other, and files that are missing.
#include <doctest/doctest.h>

#include <fstream>

#include "spec/checks.h"
#include "spec/load.h"
#include "temp_folder.h"

using namespace shoal;

namespace {

std::string conflict_in(const std::string& yaml) {
  try {
    parse_spec(yaml, "a.yaml", {});
  } catch (const SpecErrors& errors) {
    INFO(std::string(errors.what()));
    CHECK(errors.problems().size() == 1);
    CHECK(errors.problems().front().where.rfind("a.yaml:1:", 0) == 0);
    return errors.problems().front().what;
  }
  return "";
}

}  // namespace

TEST_CASE("model shapes that cannot be built are refused") {
  CHECK(conflict_in("model: {hidden_size: 500, num_attention_heads: 8}") ==
        "the heads do not divide the hidden size evenly");
  CHECK(conflict_in("model: {hidden_size: 500, num_attention_heads: 8, head_dim: 64}") == "");
  CHECK(conflict_in("model: {num_key_value_heads: 3}") ==
        "the key-value heads do not divide the attention heads evenly");
  CHECK(conflict_in("model: {num_key_value_heads: 2}") == "");
  CHECK(conflict_in("model: {rotary_fraction: 0.1, head_dim: 30}") ==
        "rotary embeddings turn pairs, but this gives an odd number of dims");
  CHECK(conflict_in("model: {family: llama}") == "a llama model must state model.intermediate_size");
  CHECK(conflict_in("model: {norm_unit_offset: true}") ==
        "norm_unit_offset is for rmsnorm, but the model uses layernorm");
}

TEST_CASE("a step must be a whole number of passes") {
  CHECK(conflict_in("batch: {global: 32, micro: 7}") == "a step is not a whole number of passes");
  CHECK(conflict_in("{batch: {global: 32, micro: 8}, parallel: {data: 8}}") ==
        "a step is not a whole number of passes");
  CHECK(conflict_in("{batch: {global: 32, micro: 8}, parallel: {data: 2, z: 2}}") == "");
}

TEST_CASE("schedules must fit into the run") {
  CHECK(conflict_in("{run: {steps: 10}, schedule: {warmup: 11}}") ==
        "the warmup is longer than the schedule");
  CHECK(conflict_in("{run: {steps: 10}, schedule: {warmup: 10}}") == "");
  CHECK(conflict_in("{schedule: {min_lr: 1}}") == "the learning rate would end above its peak");
  CHECK(conflict_in("{run: {steps: 10}, schedule: {name: wsd, cooldown_start: 11}}") ==
        "the cooldown does not fit between the warmup and the end of the schedule");
  CHECK(conflict_in("{run: {steps: 100}, schedule: {name: wsd, warmup: 50, cooldown: 60}}") ==
        "the cooldown does not fit between the warmup and the end of the schedule");
  CHECK(conflict_in("{run: {steps: 100}, schedule: {name: wsd, warmup: 40, cooldown: 60}}") == "");
}

TEST_CASE("contradictory pairs are refused") {
  CHECK(conflict_in("{data: {split: '9,1', valid: a}}") == "data.split and data.valid contradict each other");
  CHECK(conflict_in("{data: {split: '9,x'}}") == "data.split is no list of proportions");
  CHECK(conflict_in("{data: {split: '9,1,1,1'}}") == "data.split is no list of proportions");
  CHECK(conflict_in("{data: {split: '969, 30, 1'}}") == "");
  CHECK(conflict_in("{run: {fork: x, resume: always}}") ==
        "run.fork and run.resume: always contradict each other");
  CHECK(conflict_in("{run: {branch: x, resume: always}}") ==
        "run.branch and run.resume: always contradict each other");
  CHECK(conflict_in("{run: {branch: x, fork: y}}") == "run.fork and run.branch contradict each other");
  CHECK(conflict_in("{data: {tokenizer: byte}, model: {vocab_size: 100}}") ==
        "the vocabulary is smaller than the byte tokenizer's");
  CHECK(conflict_in("{data: {seq_length: 8}, loss: {goldfish: {strategy: hash-table}}}") ==
        "the goldfish window is longer than a sequence, so that nothing would be left out");
  CHECK(conflict_in("{data: {seq_length: 8}, loss: {goldfish: {strategy: static, start: 8}}}") ==
        "the first position to leave out lies behind the sequence");
  CHECK(conflict_in("{run: {name: '', dir: ''}}") == "the run has neither a name nor a folder");
}

TEST_CASE("missing files are reported, but only when asked for") {
  const test::TempFolder folder;
  const LoadedSpec loaded =
      parse_spec("data:\n  tokenizer: " + folder / "t.json" + "\n  train: [{path: " + folder / "a" +
                     "}, {path: " + folder / "b.bin" + "}]\n",
                 "a.yaml", {});
  std::ofstream(folder / "a.bin") << "x";
  std::ofstream(folder / "b.bin") << "x";
  std::ofstream(folder / "b.idx") << "x";
  const auto problems = check_files(loaded);
  REQUIRE(problems.size() == 3);
  CHECK(problems[0].what == "the tokenizer's file is missing");
  CHECK(problems[0].where == "a.yaml:2:14");
  CHECK(problems[1].what == folder / "a.idx" + " is missing beside " + folder / "a.bin");
  CHECK(problems[1].where == "a.yaml:3:10");
  CHECK(problems[2].hint == "leave the .bin out: " + folder / "b");

  CHECK(check_files(parse_spec("model: {vocab_size: 256}", "a.yaml", {})).front().what ==
        "there is no training data");
  CHECK(check_files(parse_spec("data: {train: x}", "a.yaml", {})).front().what ==
        "neither a tokenizer nor a vocabulary size is given");
}
