// The step line and the progress bar, as text.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "train/records.h"

namespace shoal {

// Speed over a window of steps. The first steps after a start are left out: they allocate, pack and warm
// caches.
class SpeedMeter {
 public:
  explicit SpeedMeter(int64_t warmup_steps = 2, size_t window = 20)
      : warmup_(warmup_steps), window_(window) {}

  void add(const StepRecord& record);
  double tokens_per_second() const;  // over the window; of the last step alone while warming up
  double seconds_per_step() const;
  double data_share() const;                 // 0 to 1
  double average_tokens_per_second() const;  // over all steps but the first ones

 private:
  struct Sample {
    double seconds, data_seconds;
    int64_t tokens;
  };
  int64_t warmup_, seen_ = 0;
  size_t window_;
  std::deque<Sample> samples_;
  Sample total_{0, 0, 0};
};

// "step 120/5000 | loss 3.214 | grad 0.83 | lr 2.9e-4 | 412 ms | 39.8k tok/s | MFU 41.2% | data 0.3% |
// mem 1.2G | eta 33m" with speed, MFU, data share and the time left from the meter's window.
std::string step_line(const StepRecord& record, int64_t steps, const SpeedMeter& speed);

// "[=======>      ] 24% step ..." cut to the terminal's width.
std::string progress_line(const StepRecord& record, int64_t steps, const SpeedMeter& speed, int width);

}  // namespace shoal
