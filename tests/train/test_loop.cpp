#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "train/run_folder.h"
#include "train/tiny_run.h"
#include "train/trainer.h"

using namespace shoal;
using test::StopAfter;
using test::TinyRun;

namespace {

// Writes down what it is called for.
class Recorder final : public Hook {
 public:
  explicit Recorder(std::string& calls) : calls_(calls) {}

  void on_start(Trainer&) override { calls_ += "start "; }
  void before_step(Trainer&) override { calls_ += "before "; }
  void before_update(Trainer& trainer, StepRecord& record) override {
    CHECK(record.step == trainer.state().step + 1);
    CHECK(record.kept == 4 * 12);
    calls_ += "update ";
  }
  void after_step(Trainer& trainer, const StepRecord& record) override {
    CHECK(record.step == trainer.state().step);
    CHECK(record.tokens == record.step * 4 * 12);
    calls_ += "after" + std::to_string(record.step) + " ";
  }
  void on_eval(Trainer&, const EvalRecord&) override { calls_ += "eval "; }
  void on_checkpoint(Trainer&, int64_t step) override { calls_ += "checkpoint" + std::to_string(step) + " "; }
  void on_stop(Trainer&) override { calls_ += "stop "; }
  void close(Trainer&) override { calls_ += "close"; }

 private:
  std::string& calls_;
};

// Breaks a weight before a step, the first few times that it comes.
class BadStep final : public Hook {
 public:
  BadStep(int64_t step, int times, int& seen) : step_(step), times_(times), seen_(seen) {}
  void before_step(Trainer& trainer) override {
    if (trainer.state().step + 1 != step_ || seen_++ >= times_) return;
    trainer.model().parameters().all().back().master.view().as<float>()[0] =
        std::numeric_limits<float>::quiet_NaN();
    trainer.model().parameters().masters_changed(trainer.runtime().context());
  }

 private:
  int64_t step_;
  int times_;
  int& seen_;
};

std::vector<int64_t> logged_steps(const TinyRun& run) {
  std::vector<int64_t> steps;
  for (const std::string& line : run.metrics()) {
    const auto record = nlohmann::json::parse(line);
    if (record.contains("lr")) steps.push_back(record["step"]);
  }
  return steps;
}

}  // namespace

TEST_CASE("hooks are called in the order of a run's life") {
  const TinyRun run;
  std::string calls;
  CHECK(run.train({"run.steps=3", "eval.every=2"}, std::make_unique<Recorder>(calls)) == ExitCode::done);
  CHECK(calls ==
        "start before update after1 before update eval after2 before update eval checkpoint3 after3 stop "
        "close");
}

TEST_CASE("the published schedule saves before the first update") {
  const TinyRun run;
  std::string calls;
  run.train({"run.steps=5", "eval.every=0", "checkpoint.every=0", "checkpoint.schedule=pythia"},
            std::make_unique<Recorder>(calls));
  CHECK(calls ==
        "checkpoint0 start before update checkpoint1 after1 before update checkpoint2 after2 before update "
        "after3 "
        "before update checkpoint4 after4 before update eval after5 checkpoint5 stop close");
  // Step 0 holds the initial weights: a fork of it that trains is the same run.
  run.train({"run.steps=5", "schedule.decay_steps=5", "run.dir=" + run.path("fork"),
             "run.fork=" + run.path("run/ckpt/step_000000.h5")});
  CHECK(run.checkpoint(5).at("model/embedding.weight") ==
        run.checkpoint(5, "fork").at("model/embedding.weight"));
}

TEST_CASE("a stopped run saves where it is and goes on from there") {
  const TinyRun run;
  run.train({"run.dir=" + run.path("straight")});
  CHECK(run.train({}, std::make_unique<StopAfter>(5)) == ExitCode::stopped);
  CHECK(std::filesystem::exists(run.path("run/ckpt/step_000005.h5")));
  CHECK(run.train({}) == ExitCode::done);
  CHECK(run.checkpoint(8) == run.checkpoint(8, "straight"));
  CHECK(run.metrics() == run.metrics("straight"));
}

TEST_CASE("the time limit stops a run") {
  const TinyRun run;
  CHECK(run.train({"run.steps=100000", "eval.every=0", "run.time_limit_minutes=0.002"}) == ExitCode::stopped);
  CHECK_FALSE(std::filesystem::is_empty(run.path("run/ckpt")));
}

TEST_CASE("guard stop: exit code 3, the last good checkpoint stays, nothing bad is saved") {
  const TinyRun run;
  CHECK(run.train({"optimizer.lr=1e30", "schedule.warmup=0", "schedule.name=constant", "checkpoint.every=1",
                   "guard.policy=stop"}) == ExitCode::numerics);
  const auto steps = logged_steps(run);
  const auto last = nlohmann::json::parse(run.metrics().back());
  CHECK(last["skipped"] == true);
  CHECK(std::filesystem::exists(run.path("run/ckpt/step_00000" + std::to_string(steps.back() - 1) + ".h5")));
  CHECK_FALSE(
      std::filesystem::exists(run.path("run/ckpt/step_00000" + std::to_string(steps.back()) + ".h5")));
}

TEST_CASE("guard skip: a diverged run does not skip for ever") {
  const TinyRun run;
  CHECK(run.train({"optimizer.lr=1e30", "schedule.warmup=0", "schedule.name=constant", "guard.policy=skip",
                   "guard.max_skips=2"}) == ExitCode::numerics);
}

TEST_CASE("guard rollback: one bad step, and the run ends well behind it") {
  const TinyRun run;
  int seen = 0;
  CHECK(run.train({"guard.policy=rollback"}, std::make_unique<BadStep>(5, 1, seen)) == ExitCode::done);
  CHECK(seen == 2);  // step 5 came twice: the second time without the fault
  CHECK(logged_steps(run) == std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8});
  // Steps 4 and 5 were done twice, with the data going on.
  CHECK(run.checkpoint(8).at("consumed") == "40");
  CHECK(run.checkpoint(8).at("guard").find("\"rollbacks\":1") != std::string::npos);
}

TEST_CASE("guard rollback: without a checkpoint, or when the budget is spent, the run stops") {
  const TinyRun run;
  int seen = 0;
  CHECK(run.train({"guard.policy=rollback"}, std::make_unique<BadStep>(2, 1, seen)) == ExitCode::numerics);
  seen = 0;
  CHECK(run.train({"guard.policy=rollback", "guard.max_rollbacks=2", "run.dir=" + run.path("spent")},
                  std::make_unique<BadStep>(4, 100, seen)) == ExitCode::numerics);
  CHECK(seen == 3);
}

TEST_CASE("one process at a time trains in a run folder") {
  const TinyRun run;
  const RunFolder folder(run.path("run"));
  CHECK_THROWS_WITH_AS(run.train({}), doctest::Contains("another process"), UserError);
}
