#include "train/loss_guard.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

namespace shoal {

Verdict LossGuard::judge(double loss, double grad_norm) {
  reason_.clear();
  if (!std::isfinite(loss)) {
    reason_ = std::isnan(loss) ? "the loss is not a number" : "the loss is infinite";
  } else if (!std::isfinite(grad_norm)) {
    reason_ = "the norm of the gradient is not finite";
  } else if (section_.spike_factor > 0 && int64_t(window_.size()) >= section_.spike_window) {
    const double mean = std::accumulate(window_.begin(), window_.end(), 0.0) / double(window_.size());
    if (loss > section_.spike_factor * mean) {
      reason_ = fmt::format("the loss {:.4g} exceeds {:g} times the mean {:.4g} of the last {} steps", loss,
                            section_.spike_factor, mean, window_.size());
    }
  }
  if (reason_.empty()) {
    skips_in_a_row_ = 0;
    if (section_.spike_factor > 0) {
      window_.push_back(loss);
      if (int64_t(window_.size()) > section_.spike_window) window_.pop_front();
    }
    return Verdict::good;
  }
  if (section_.policy == "skip") {
    if (++skips_in_a_row_ <= section_.max_skips) return Verdict::skip;
    reason_ += fmt::format(", {} steps in a row", skips_in_a_row_);
  } else if (section_.policy == "rollback") {
    if (++rollbacks_ <= section_.max_rollbacks) return Verdict::rollback;
    reason_ += fmt::format(", after {} rollbacks", section_.max_rollbacks);
  }
  return Verdict::stop;
}

std::string LossGuard::to_json() const {
  // Doubles are written in the shortest form that reads back as the same bits.
  return nlohmann::json{{"window", window_}, {"skips_in_a_row", skips_in_a_row_}, {"rollbacks", rollbacks_}}
      .dump();
}

void LossGuard::from_json(const std::string& text) {
  const auto state = nlohmann::json::parse(text);
  window_ = state.at("window").get<std::deque<double>>();
  skips_in_a_row_ = state.at("skips_in_a_row").get<int64_t>();
  rollbacks_ = state.at("rollbacks").get<int64_t>();
}

}  // namespace shoal
