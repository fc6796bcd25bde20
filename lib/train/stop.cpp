#include "train/stop.h"

#include <fmt/format.h>

namespace shoal {

StopPoll::StopPoll(Communicator& world, double time_limit_minutes)
    : world_(world), limit_minutes_(time_limit_minutes) {}

bool StopPoll::poll() {
  if (!reason_.empty()) return true;
  constexpr int32_t time_is_up = 1000;  // above every signal's number
  int32_t vote = StopSignals::received();
  const std::chrono::duration<double, std::ratio<60>> minutes = std::chrono::steady_clock::now() - start_;
  if (vote == 0 && limit_minutes_ > 0 && minutes.count() >= limit_minutes_) vote = time_is_up;
  world_.all_reduce(View(&vote, DType::i32, {1}), Reduce::max, "stop").wait();
  if (vote == 0) return false;
  reason_ =
      vote == time_is_up ? fmt::format("the time limit of {:g} minutes", limit_minutes_) : signal_name(vote);
  return true;
}

}  // namespace shoal
