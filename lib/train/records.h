// What the loop tells its hooks about a step and an evaluation.
#pragma once

#include <cstdint>
#include <string>

namespace shoal {

struct StepRecord {
  int64_t step = 0;    // 1 is the first
  int64_t tokens = 0;  // input tokens consumed since the start of training, this step included
  int64_t step_tokens = 0;

  double loss = 0;       // mean over kept targets, nats; what is trained on, without z-loss
  double grad_norm = 0;  // before clipping
  double lr = 0;
  bool applied = true;  // false: the update was skipped

  bool masked = false;  // a goldfish loss is on, and the next fields are meaningful
  double loss_plain = 0, loss_dropped = 0;
  int64_t kept = 0, dropped = 0;  // targets

  double seconds = 0;       // the whole step
  double data_seconds = 0;  // of it, waiting for data
  double tokens_per_second = 0;
  double mfu = 0;  // model FLOPs of this step over what the measured peak could do; 0: no peak is known
  int64_t memory_bytes = 0;  // the device's peak so far
};

struct EvalRecord {
  int64_t step = 0;
  std::string split;  // "valid"
  double loss = 0;    // plain mean cross-entropy, nats a token
  int64_t tokens = 0;
  double seconds = 0;
};

}  // namespace shoal
