#include "layers/loss.h"

namespace shoal {
namespace {

double mean(double sum, int64_t count) { return count > 0 ? sum / static_cast<double>(count) : 0.0; }

}  // namespace

LossSums& LossSums::operator+=(const LossSums& other) {
  kept += other.kept;
  dropped += other.dropped;
  z += other.z;
  kept_tokens += other.kept_tokens;
  dropped_tokens += other.dropped_tokens;
  return *this;
}

double LossSums::kept_loss() const { return mean(kept, kept_tokens); }
double LossSums::dropped_loss() const { return mean(dropped, dropped_tokens); }
double LossSums::plain_loss() const { return mean(kept + dropped, kept_tokens + dropped_tokens); }

}  // namespace shoal
