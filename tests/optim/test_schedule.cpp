#include "optim/schedule.h"

#include <doctest/doctest.h>

#include "base/error.h"

using namespace shoal;

namespace {

ScheduleSection section(const char* name, double warmup, double min_lr) {
  ScheduleSection s;
  s.name = name;
  s.warmup = warmup;
  s.min_lr = min_lr;
  return s;
}

void check_relative(double value, double expected, double tolerance = 1e-9) {
  CHECK(value == doctest::Approx(expected).epsilon(tolerance));
}

}  // namespace

TEST_CASE("cosine is GPT-NeoX's: golden values of the Pythia 70M run") {
  const Schedule s(section("cosine", 0.01, 1e-4), 1e-3, 143000);
  check_relative(s.lr(0), 6.993006993e-07);
  check_relative(s.lr(1), 6.993006993e-07);
  check_relative(s.lr(2), 1.398601399e-06);
  CHECK(s.lr(1430) == 1e-3);
  check_relative(s.lr(1431), 9.999999998892e-4, 1e-13);
  check_relative(s.lr(72215), 5.5e-4, 1e-12);
  CHECK(s.lr(143000) == 1e-4);
  CHECK(s.lr(200000) == 1e-4);
}

TEST_CASE("warm-up counts and fractions") {
  CHECK(Schedule(section("constant", 0, 0), 1e-3, 100).lr(0) == 1e-3);
  const Schedule by_count(section("constant", 10, 0), 1e-3, 100),
      by_fraction(section("constant", 0.1, 0), 1e-3, 100);
  for (int64_t n = 0; n < 100; ++n)
    CHECK(by_count.lr(n) == doctest::Approx(by_fraction.lr(n)).epsilon(1e-12));
  CHECK(by_count.lr(5) == doctest::Approx(5e-4));
  CHECK(by_count.lr(99) == 1e-3);
  // Half an update of warm-up must not start at twice the rate.
  CHECK(Schedule(section("cosine", 0.01, 0), 1e-3, 50).lr(0) == 1e-3);
}

TEST_CASE("linear falls from the end of warm-up to min_lr") {
  const Schedule s(section("linear", 10, 1e-4), 1e-3, 110);
  CHECK(s.lr(10) == 1e-3);
  CHECK(s.lr(60) == doctest::Approx(5.5e-4));
  CHECK(s.lr(110) == 1e-4);
}

TEST_CASE("wsd holds, then cools down linearly to any step") {
  ScheduleSection w = section("wsd", 10, 0);
  w.cooldown = 0.2;
  const Schedule by_fraction(w, 1e-3, 100);
  CHECK(by_fraction.cooldown_start() == 80);
  CHECK(by_fraction.lr(80) == 1e-3);
  CHECK(by_fraction.lr(90) == doctest::Approx(5e-4));
  CHECK(by_fraction.lr(99) == doctest::Approx(5e-5));
  CHECK(by_fraction.lr(100) == 0);

  w.cooldown_start = 40;
  w.decay_steps = 44;
  const Schedule to_44(w, 1e-3, 100);
  CHECK(to_44.lr(40) == 1e-3);
  CHECK(to_44.lr(41) == doctest::Approx(7.5e-4));
  CHECK(to_44.lr(44) == 0);
  CHECK(to_44.lr(99) == 0);

  // Before its start a cooldown run is the constant run, so that it can branch off a checkpoint of that.
  const Schedule constant(section("constant", 10, 0), 1e-3, 100);
  for (int64_t n = 0; n <= 40; ++n) CHECK(to_44.lr(n) == constant.lr(n));
}

TEST_CASE("schedules that do not fit are refused") {
  ScheduleSection w = section("wsd", 0, 0);
  w.cooldown_start = 101;
  CHECK_THROWS_AS(Schedule(w, 1e-3, 100), UserError);
  CHECK_THROWS_AS(Schedule(section("cosine", 0, 1e-2), 1e-3, 100), UserError);
  CHECK_THROWS_AS(Schedule(section("cosin", 0, 0), 1e-3, 100), UserError);
}
