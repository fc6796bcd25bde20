// N steps are the same as k steps, a stop, and N - k steps: weights, optimizer state, logged losses, bit by
// bit.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "spec/key_table.h"
#include "train/tiny_run.h"

using namespace shoal;
using test::TinyRun;

namespace {

using Words = std::vector<std::string>;

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Trains to step 8 at once and with stops after the given steps, and compares all there is.
void check_resume(const Words& spec, const std::vector<int>& stops) {
  const TinyRun run;
  const Words to_8 = with(spec, {"schedule.decay_steps=8"});
  REQUIRE(run.train(with(to_8, {"run.dir=" + run.path("straight")})) == ExitCode::done);
  for (int stop : stops) {
    REQUIRE(run.train(with(to_8, {"run.steps=" + std::to_string(stop)})) == ExitCode::done);
  }
  REQUIRE(run.train(to_8) == ExitCode::done);
  CHECK(run.checkpoint(8) == run.checkpoint(8, "straight"));
  // A run that ends at a stop evaluates there, which the straight one does only where it is due: even steps.
  CHECK(run.metrics() == run.metrics("straight"));
}

}  // namespace

TEST_CASE("resume is bit-exact for every optimizer and precision") {
  for (const std::string& optimizer : find_key("optimizer.name")->allowed.choices) {
    for (const char* precision : {"f32", "bf16"}) {
      CAPTURE(optimizer);
      CAPTURE(precision);
      check_resume({"optimizer.name=" + optimizer, std::string("precision.compute=") + precision}, {2, 6});
    }
  }
}

TEST_CASE("resume is bit-exact for every variant of jorge, and with another rate for the adamw beside it") {
  const Words jorge{"optimizer.name=jorge", "optimizer.jorge.refresh_every=3",
                    "optimizer.jorge.block_size=7"};
  for (const char* graft : {"sgd", "adam"}) {
    for (const char* form : {"symmetric", "published"}) {
      CAPTURE(graft);
      CAPTURE(form);
      check_resume(with(jorge, {std::string("optimizer.jorge.graft=") + graft,
                                std::string("optimizer.jorge.form=") + form, "optimizer.adamw_lr=3e-3"}),
                   {2, 4});
    }
  }
  check_resume({"optimizer.name=adam-atan2", "optimizer.clip_updates=false"}, {2, 6});
}

TEST_CASE("resume is bit-exact with masks, accumulation, recomputation and a guard") {
  check_resume({"loss.goldfish.strategy=hash-table", "loss.goldfish.k=3", "loss.goldfish.h=2",
                "batch.micro=1", "precision.recompute=true", "loss.z_loss=1e-4", "guard.policy=skip",
                "guard.spike_factor=1.01", "guard.spike_window=2", "schedule.name=linear"},
               {4});
}

TEST_CASE("one pass and many passes a step agree up to rounding") {
  const TinyRun run;
  std::vector<double> losses;
  for (int micro : {1, 4}) {
    const std::string name = "micro" + std::to_string(micro);
    run.train({"run.dir=" + run.path(name), "batch.micro=" + std::to_string(micro),
               "loss.goldfish.strategy=static"});
    const std::string last = run.metrics(name).back();
    losses.push_back(std::stod(last.substr(last.find("\"valid_loss\":") + 13)));
  }
  CHECK(losses[0] == doctest::Approx(losses[1]).epsilon(1e-5));
}

TEST_CASE("a run is resumed from the checkpoint before a damaged one") {
  const TinyRun run;
  run.train({"run.dir=" + run.path("straight")});
  run.train({});
  std::filesystem::resize_file(run.path("run/ckpt/step_000008.h5"), 5000);
  CHECK(run.train({}) == ExitCode::done);
  CHECK(run.checkpoint(8) == run.checkpoint(8, "straight"));
  CHECK(run.metrics() == run.metrics("straight"));
}

TEST_CASE("a run without a checkpoint yet starts again from the beginning") {
  const TinyRun run;
  run.train({"run.dir=" + run.path("straight")});
  run.train({});
  std::filesystem::remove_all(run.path("run/ckpt"));
  CHECK(run.train({}) == ExitCode::done);
  CHECK(run.metrics() == run.metrics("straight"));
}

TEST_CASE("the resume key") {
  const TinyRun run;
  CHECK_THROWS_WITH_AS(run.train({"run.resume=always"}), doctest::Contains("no checkpoint to resume from"),
                       UserError);
  run.train({"run.resume=never"});
  CHECK_THROWS_WITH_AS(run.train({"run.resume=never"}), doctest::Contains("holds a run already"), UserError);
  CHECK(run.train({"run.resume=always"}) == ExitCode::done);
}

TEST_CASE("a folder with other files is not used for a run") {
  const TinyRun run;
  std::filesystem::create_directories(run.path("run"));
  std::ofstream(run.path("run/thesis.txt")) << "all of it";
  CHECK_THROWS_WITH_AS(run.train({}), doctest::Contains("thesis.txt"), UserError);
}

TEST_CASE("keys that change the result are refused on resume, others are not") {
  const TinyRun run;
  run.train({});
  CHECK_THROWS_WITH_AS(run.train({"optimizer.lr=2e-2"}), doctest::Contains("optimizer.lr: 0.01 -> 0.02"),
                       UserError);
  CHECK_THROWS_WITH_AS(run.train({"run.steps=10"}), doctest::Contains("schedule.decay_steps: 8 -> 10"),
                       UserError);
  CHECK_THROWS_WITH_AS(run.train({"batch.global=8"}), doctest::Contains("batch.global"), UserError);
  CHECK_THROWS_WITH_AS(run.train({"data.seed=5"}), doctest::Contains("data.seed: 1234 -> 5"), UserError);
  CHECK(run.train({"data.seed=1234", "checkpoint.every=5", "log.tensorboard=false", "batch.micro=4",
                   "schedule.decay_steps=8", "run.steps=10"}) == ExitCode::done);
  CHECK(run.train({"optimizer.lr=2e-2", "run.steps=12", "run.allow_changes=true"}) == ExitCode::done);
}

TEST_CASE("a fork takes the weights only") {
  const TinyRun run;
  run.train({});
  run.train({"run.dir=" + run.path("fork"), "run.fork=" + run.path("run"), "run.steps=1",
             "optimizer.lr=1e-30", "schedule.min_lr=0.0", "schedule.warmup=0"});
  const auto parent = run.checkpoint(8), fork = run.checkpoint(1, "fork");
  CHECK(fork.at("consumed") == "4");
  for (const auto& [name, value] : parent) {
    if (name.starts_with("model/")) CHECK_MESSAGE(fork.at(name) == value, name);
    if (name.starts_with("optimizer/")) CHECK_MESSAGE(fork.at(name) != value, name);
  }
}

TEST_CASE("a cooldown branches off any checkpoint of a constant run with its whole state") {
  const TinyRun run;
  const Words constant{"schedule.name=constant", "run.steps=6"};
  run.train(constant);
  // The same in one run, whose schedule holds until step 3 and cools down to step 8.
  const Words cooldown{"schedule.name=wsd", "schedule.cooldown_start=3", "run.steps=8",
                       "schedule.min_lr=0.0"};
  run.train(with(cooldown, {"run.dir=" + run.path("straight")}));
  const Words branch =
      with(cooldown, {"run.dir=" + run.path("branch"), "run.branch=" + run.path("run/ckpt/step_000003.h5")});
  REQUIRE(run.train(with(branch, {"run.steps=6", "schedule.decay_steps=8"})) == ExitCode::done);
  REQUIRE(run.train(branch) == ExitCode::done);  // resumes the branch, does not branch again
  CHECK(run.checkpoint(8, "branch") == run.checkpoint(8, "straight"));
  CHECK_THROWS_WITH_AS(run.train(with(branch, {"run.dir=" + run.path("other"), "model.num_layers=3"})),
                       doctest::Contains("model.num_layers: 2 -> 3"), UserError);
}
