#include "train/trainer.h"

#include <chrono>
#include <map>
#include <utility>

#include "optim/clip.h"
#include "train/build_model.h"
#include "train/evaluate.h"
#include "train/hooks.h"
#include "train/start.h"

namespace shoal {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double peak_seconds = 0.1;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Trainer::Trainer(const LoadedSpec& loaded, Runtime& runtime, RunFolder& folder, Log& log,
                 const std::string& build_report)
    : loaded_(loaded),
      folder_(folder),
      log_(log),
      runtime_(runtime),
      stop_poll_(runtime_.world(), loaded.spec.run.time_limit_minutes),
      model_(build_model(loaded.spec, runtime_.context())),
      optimizer_(make_optimizer(loaded.spec.optimizer, model_->parameters(), runtime_.context())),
      schedule_(loaded.spec.schedule, loaded.spec.optimizer.lr, loaded.spec.run.steps),
      gradient_(*model_, runtime_.context(), runtime_.replicas(), loaded.spec),
      data_(loaded.spec, samples_needed(loaded.spec), runtime_.replicas().size(), runtime_.replicas().rank()),
      valid_(open_split(loaded.spec, Split::valid, 0)),
      checkpoints_(folder.checkpoints(), loaded.spec.checkpoint, to_yaml(loaded, false), runtime_.world(),
                   log),
      hooks_(standard_hooks(loaded.spec, runtime_.first_rank())) {
  Start start = choose_start(spec(), folder_, checkpoints_, log_);
  // Nothing is written into the folder until it is clear that the run can start.
  folder_.describe_run(loaded_, environment_json(build_report, runtime_.threads(), runtime_.world().size()));
  if (runtime_.first_rank()) log_.attach(folder_.file("train.log"));
  checkpoints_.prepare();
  log_.line(describe(model_->config(), spec().precision));
  log_.line(optimizer_->describe());
  log_.line(schedule_.describe());
  log_.line(data_.source().describe());
  take(start);
  data_.start(state_.consumed, spec().run.steps - state_.step);
  peak_flops_ = spec().log.peak_gflops > 0
                    ? spec().log.peak_gflops * 1e9
                    : measure_peak_flops(runtime_.ops(), compute_type(spec().precision), peak_seconds);
}

Trainer::~Trainer() = default;

void Trainer::take(Start& start) {
  switch (start.mode) {
    case StartMode::fresh:
      return;
    case StartMode::fork:
      restore_weights(*start.checkpoint, model_->parameters(), runtime_.context());
      log_.info("forked: the weights of {}, step {}", start.checkpoint->path(),
                start.checkpoint->info().step);
      return;
    case StartMode::branch:
    case StartMode::resume:
      restore(*start.checkpoint);
      log_.info("{} after step {} of {}", start.mode == StartMode::resume ? "resuming" : "branching off",
                state_.step, start.checkpoint->path());
  }
}

ExitCode Trainer::run() {
  each(&Hook::on_start);
  while (state_.step < spec().run.steps && exit_code_ == ExitCode::done) {
    phase("step");
    each(&Hook::before_step);
    const auto begin = Clock::now();
    StepRecord record = forward_backward();
    each(&Hook::before_update, record);
    if (std::exchange(rolled_back_, false)) continue;
    if (record.applied) apply_update(record);
    ++state_.step;
    state_.consumed += spec().batch.global;
    finish(record, seconds_since(begin));
    each(&Hook::after_step, record);
  }
  each(&Hook::on_stop);
  phase("close");
  checkpoints_.finish();
  each(&Hook::close);
  return exit_code_;
}

StepRecord Trainer::forward_backward() {
  StepRecord record;
  const double waited = data_.seconds_waited();
  const HostBatch batch = data_.next();
  record.data_seconds = data_.seconds_waited() - waited;

  const Batch rows{batch.rows, batch.seq_length, batch.tokens.data(), batch.targets.data(),
                   data_.masked() ? batch.weights.data() : nullptr};
  const LossSums sums = gradient_.compute(rows, batch.kept);

  record.step = state_.step + 1;
  record.step_tokens = spec().batch.global * batch.seq_length;
  record.tokens = (state_.consumed + spec().batch.global) * batch.seq_length;
  record.loss = sums.kept_loss();
  record.masked = data_.masked();
  record.loss_plain = sums.plain_loss();
  record.loss_dropped = sums.dropped_loss();
  record.kept = sums.kept_tokens;
  record.dropped = sums.dropped_tokens;
  record.grad_norm = gradient_.norm();
  record.lr = schedule_.lr(state_.updates);
  return record;
}

void Trainer::apply_update(const StepRecord& record) {
  ++state_.updates;
  optimizer_->apply(state_.updates, record.lr, clip_scale(record.grad_norm, spec().optimizer.clip_norm));
  gather_owned(runtime_.context(), model_->parameters());
  runtime_.ops().weights_changed();
}

void Trainer::finish(StepRecord& record, double seconds) {
  record.seconds = seconds;
  record.tokens_per_second = double(record.step_tokens) / seconds;
  if (peak_flops_ > 0) {
    const double flops = model_->config().train_flops_per_token(spec().data.seq_length);
    record.mfu = flops * record.tokens_per_second / (peak_flops_ * runtime_.world().size());
  }
  record.memory_bytes = runtime_.device().memory().peak;
}

void Trainer::stop(ExitCode code) {
  if (exit_code_ == ExitCode::done) exit_code_ = code;
}

bool Trainer::evaluate() {
  if (valid_ == nullptr) return true;
  phase("eval");
  const auto begin = Clock::now();
  const int64_t micro = spec().eval.micro > 0 ? spec().eval.micro : spec().batch.micro;
  EvalOptions options{micro, spec().eval.batches, [this] { return stop_requested(); }};
  if (runtime_.world().size() > 1 || spec().parallel.reproducible) options.replicas = &runtime_.replicas();
  const auto sums = shoal::evaluate(*model_, *valid_, options);
  if (!sums) return false;
  each(&Hook::on_eval,
       EvalRecord{state_.step, "valid", sums->plain_loss(), sums->kept_tokens, seconds_since(begin)});
  return true;
}

void Trainer::save() {
  if (checkpoints_.last_step() == state_.step) return;
  phase("save");
  std::map<std::string, std::string> strings;
  for (const auto& hook : hooks_) hook->save_state(strings);
  checkpoints_.save(state_, strings, model_->parameters(), *optimizer_, runtime_.context());
  each(&Hook::on_checkpoint, state_.step);
}

bool Trainer::roll_back() {
  const int64_t consumed = state_.consumed + spec().batch.global;  // the batch in hand is left out
  checkpoints_.finish();
  std::optional<CheckpointReader> newest = checkpoints_.open_newest();
  if (!newest) return false;
  restore(*newest);
  state_.consumed = consumed;
  data_.start(state_.consumed, spec().run.steps - state_.step);
  rolled_back_ = true;
  each(&Hook::on_rollback, state_.step);
  return true;
}

void Trainer::restore(CheckpointReader& checkpoint) {
  state_ = checkpoints_.restore(checkpoint, model_->parameters(), *optimizer_, runtime_.context());
  for (const auto& hook : hooks_) hook->load_state(checkpoint.info().strings);
}

void Trainer::phase(const char* name) {
  each(&Hook::on_phase, name);
}

}  // namespace shoal
