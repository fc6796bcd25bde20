#include "train/loss_guard.h"

#include <doctest/doctest.h>

#include <limits>

using namespace shoal;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

GuardSection section(const char* policy) {
  GuardSection s;
  s.policy = policy;
  s.spike_factor = 2;
  s.spike_window = 4;
  s.max_rollbacks = 2;
  s.max_skips = 3;
  return s;
}

}  // namespace

TEST_CASE("the guard stops on what is not finite") {
  CHECK(LossGuard(section("stop")).judge(nan_value, 1) == Verdict::stop);
  CHECK(LossGuard(section("stop")).judge(1, infinity) == Verdict::stop);
  CHECK(LossGuard(section("stop")).judge(1, 1) == Verdict::good);
}

TEST_CASE("a spike is judged against a full window of good losses") {
  LossGuard guard(section("skip"));
  CHECK(guard.judge(1, 1) == Verdict::good);
  CHECK(guard.judge(100, 1) == Verdict::good);  // the window is not full yet
  for (int i = 0; i < 4; ++i) guard.judge(1, 1);
  CHECK(guard.judge(1.9, 1) == Verdict::good);
  CHECK(guard.judge(3, 1) == Verdict::skip);
  CHECK(guard.judge(3, 1) == Verdict::skip);  // a bad loss does not enter the mean
  CHECK(guard.judge(2, 1) == Verdict::good);
}

TEST_CASE("budgets end in a stop") {
  LossGuard skip(section("skip"));
  for (int i = 0; i < 3; ++i) CHECK(skip.judge(nan_value, 1) == Verdict::skip);
  CHECK(skip.judge(nan_value, 1) == Verdict::stop);

  LossGuard rollback(section("rollback"));
  for (int i = 0; i < 2; ++i) CHECK(rollback.judge(nan_value, 1) == Verdict::rollback);
  CHECK(rollback.judge(1, 1) == Verdict::good);
  CHECK(rollback.judge(nan_value, 1) == Verdict::stop);
}

TEST_CASE("a restored guard judges as the original does") {
  LossGuard a(section("skip"));
  for (int i = 0; i < 7; ++i) a.judge(1.0 / (i + 3), 1);
  a.judge(nan_value, 1);
  LossGuard b(section("skip"));
  b.from_json(a.to_json());
  CHECK(a.to_json() == b.to_json());
  for (double loss : {0.2, 0.21, 0.9, 0.22, 0.23}) CHECK(a.judge(loss, 1) == b.judge(loss, 1));
}
