// shoal train, eval and generate as a user runs them: signals, exit codes, mistakes.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "cli/run_shoal.h"
#include "temp_folder.h"
#include "tiny_corpus.h"

using namespace shoal::test;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* spec_text = R"(
run: {steps: 40, threads: 1, dir: run}
model: {hidden_size: 16, num_layers: 2, num_attention_heads: 2, vocab_size: 384}
data: {tokenizer: byte, seq_length: 12, train: [{path: train}], valid: [{path: valid}]}
batch: {global: 4, micro: 2}
checkpoint: {every: 10}
eval: {every: 10}
log: {peak_gflops: 10}
)";

// A folder with a corpus and spec.yaml.
struct Place {
  TempFolder folder;
  Place() {
    write_tiny_corpus(folder / "train", 1, 20);
    write_tiny_corpus(folder / "valid", 2, 3);
    std::ofstream(folder / "spec.yaml") << spec_text;
    // The corpus was made without a tokenizer, so that any fits.
  }
  Result run(const std::string& command) const { return run_shell(command, folder.path()); }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder / name).rdbuf();
    return text.str();
  }
};

// Starts a run, sends it a signal in the given phase (but not before its first step), and prints its exit
// code.
std::string signal_in_phase(const std::string& words, const std::string& signal, const std::string& phase) {
  return "shoal train spec.yaml " + words +
         " > log.txt 2>&1 &\n"
         "pid=$!\n"
         "for i in $(seq 3000); do\n"
         "  beat=$(cat run/heartbeat.json 2>/dev/null)\n"
         "  case $beat in *'\"step\":0,'*) ;; *'\"phase\":\"" +
         phase + "\"'*) kill -" + signal +
         " $pid; break ;; esac\n"
         "  sleep 0.01\n"
         "done\n"
         "wait $pid; echo $?; cat log.txt >&2";
}

// After a stop: resumes to the end, and compares the end with that of a run that was left alone.
void check_resumes(const Place& place, const std::string& words, int64_t steps) {
  const std::string end =
      "ckpt/step_" + std::string(6 - std::to_string(steps).size(), '0') + std::to_string(steps) + ".h5";
  const Result resumed = place.run("shoal train spec.yaml " + words);
  CHECK_MESSAGE(resumed.exit_code == 0, resumed.err);
  CHECK(contains(resumed.out, "resuming after step"));
  REQUIRE(place.run("shoal train spec.yaml " + words + " run.dir=straight").exit_code == 0);
  const Result diff = place.run("shoal ckpt diff run/" + end + " straight/" + end);
  CHECK_MESSAGE(diff.exit_code == 0, diff.out);
  // Each step is logged once.
  const Result steps_logged = place.run(
      "grep -c '\"lr\"' run/metrics.jsonl; grep '\"lr\"' run/metrics.jsonl | cut -d, -f1 | sort | uniq -d");
  CHECK(steps_logged.out == std::to_string(steps) + "\n");
}

}  // namespace

TEST_CASE("SIGTERM and SIGUSR1 between steps save and exit 75; the run resumes") {
  for (const std::string signal : {"TERM", "USR1"}) {
    const Place place;
    const std::string words = "run.steps=20000 schedule.decay_steps=20000 eval.every=0 checkpoint.every=0";
    const Result result = place.run(signal_in_phase(words, signal, "step"));
    CHECK_MESSAGE(result.out == "75\n", result.err);
    CHECK(contains(result.err, "SIG" + signal));
    const Result again = place.run("shoal train spec.yaml " + words + " run.time_limit_minutes=0.01");
    CHECK(again.exit_code == 75);
    CHECK(contains(again.out, "resuming after step"));
  }
}

TEST_CASE("SIGTERM during evaluation saves and exits 75; the run resumes") {
  const Place place;
  write_tiny_corpus(place.folder / "valid", 2, 10000);  // seconds of evaluation
  const std::string words = "run.steps=3 schedule.decay_steps=3 eval.every=2 eval.micro=1";
  const Result result = place.run(signal_in_phase(words, "TERM", "eval"));
  CHECK_MESSAGE(result.out == "75\n", result.err);
  CHECK_FALSE(contains(place.read("run/metrics.jsonl"), "valid_loss"));
  CHECK(contains(place.run("ls run/ckpt").out, "step_000002.h5"));
  check_resumes(place, words, 3);
  // The evaluation that was cut short is there now.
  CHECK(place.run("grep -c valid_loss run/metrics.jsonl").out == "2\n");
}

TEST_CASE("SIGUSR1 during saving lets the save end and exits 75; the run resumes") {
  for (const std::string background : {"true", "false"}) {
    const Place place;
    const std::string words =
        "run.steps=6 model.hidden_size=256 model.num_layers=4 eval.every=0 checkpoint.every=1 "
        "checkpoint.background=" +
        background;
    const Result result = place.run(signal_in_phase(words, "USR1", "save"));
    CHECK_MESSAGE(result.out == "75\n", result.err);
    CHECK(place.run("shoal ckpt verify run").exit_code == 0);
    check_resumes(place, words, 6);
  }
}

TEST_CASE("a second signal ends the program at once") {
  const Place place;
  // A step of many seconds, within which nothing polls.
  const std::string words =
      "model.hidden_size=256 model.num_layers=4 data.seq_length=100 batch.global=1024 batch.micro=16";
  const Result result = place.run("shoal train spec.yaml " + words +
                                  " > log.txt 2>&1 &\n"
                                  "pid=$!\n"
                                  "for i in $(seq 3000); do grep -q '\"phase\":\"step\"' run/heartbeat.json "
                                  "2>/dev/null && break; sleep 0.01; done\n"
                                  "kill -TERM $pid; kill -TERM $pid; sleep 0.7; kill -0 $pid && echo alive\n"
                                  "kill -TERM $pid; wait $pid; echo $?");
  CHECK(result.out == "alive\n143\n");
}

TEST_CASE("the time limit saves and exits 75") {
  const Place place;
  const Result result =
      place.run("shoal train spec.yaml run.steps=1000000 run.time_limit_minutes=0.01 eval.every=0");
  CHECK(result.exit_code == 75);
  CHECK(contains(result.out, "the time limit of 0.01 minutes"));
}

TEST_CASE("a loss that is not finite exits 3 and keeps the last checkpoint") {
  const Place place;
  const Result result = place.run(
      "shoal train spec.yaml optimizer.lr=1e30 schedule.warmup=0 schedule.name=constant checkpoint.every=1");
  CHECK(result.exit_code == 3);
  CHECK(contains(result.err, "stopping"));
  CHECK(place.run("shoal ckpt verify run").exit_code == 0);
}

TEST_CASE("training, evaluating and generating") {
  const Place place;
  const Result train = place.run("shoal train spec.yaml");
  REQUIRE_MESSAGE(train.exit_code == 0, train.err);
  CHECK(contains(train.out, "step 40/40 | loss "));
  for (const char* file :
       {"spec.yaml", "resolved.yaml", "env.json", "metrics.jsonl", "train.log", "heartbeat.json"}) {
    CHECK_MESSAGE(place.read(std::string("run/") + file) != "", file);
  }
  CHECK(place.run("shoal train spec.yaml").exit_code == 0);  // nothing left to do

  // The validation loss of the last step, from the checkpoint.
  const std::string metrics = place.read("run/metrics.jsonl");
  const size_t at = metrics.rfind("\"valid_loss\":") + 13;
  const std::string loss = metrics.substr(at, metrics.find(',', at) - at);
  CHECK(contains(place.run("shoal eval run --json").out, "{\"loss\":" + loss + ","));
  const Result tokens = place.run("shoal eval run/ckpt/step_000020.h5 valid");
  CHECK_MESSAGE(contains(tokens.out, "perplexity"), tokens.err);
  std::ofstream(place.folder / "text.txt") << "abc";
  const Result text = place.run("shoal eval run text.txt --json");
  CHECK(contains(text.out, "\"tokens\":3,\"bytes\":3,\"bits_per_byte\":"));

  const Result first = place.run("shoal generate run --prompt 'ab' --tokens 8 --seed 5");
  CHECK(first.exit_code == 0);
  CHECK(first.out.starts_with("ab"));
  CHECK(place.run("shoal generate run --prompt 'ab' --tokens 8 --seed 5").out == first.out);
  CHECK(place.run("shoal generate run --tokens 4 --greedy --samples 2").exit_code == 0);
}

TEST_CASE("mistakes are explained and exit 2") {
  const Place place;
  const auto check = [&](const std::string& command, const std::string& part) {
    const Result result = place.run(command);
    CHECK_MESSAGE(result.exit_code == 2, command << ": " << result.err);
    CHECK_MESSAGE(contains(result.err, part), command << ": " << result.err);
  };
  check("shoal train", "SPEC");
  check("shoal train none.yaml", "none.yaml");
  check("shoal train spec.yaml optimizer.lrate=1", "optimizer.lr");
  check("shoal train spec.yaml data.train='[{path: nothing}]'", "nothing");
  check("shoal train spec.yaml run.resume=always", "no checkpoint to resume from");
  check("shoal train spec.yaml run.fork=absent", "absent");
  check("shoal train spec.yaml run.dir=train.bin", "run.dir");
  check("shoal eval nowhere", "nowhere");
  check("shoal generate nowhere", "nowhere");

  REQUIRE(place.run("shoal train spec.yaml run.steps=2 schedule.decay_steps=2").exit_code == 0);
  check("shoal train spec.yaml run.steps=2 schedule.decay_steps=2 run.resume=never", "holds a run already");
  check("shoal train spec.yaml run.steps=3 model.num_layers=3", "model.num_layers: 2 -> 3");
  check("shoal eval run nothing.txt", "nothing.txt");
  check("shoal eval run --split test", "names no test data");
  check("shoal generate run --temperature -1", "--temperature");
  check("shoal generate run --top-p 2", "--top-p");
  check("shoal generate run --prompt $'\\xff'", "not UTF-8");
  std::ofstream(place.folder / "bad.txt") << "abc\xff";
  check("shoal eval run bad.txt", "byte 3");
}
