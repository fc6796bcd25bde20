#include <doctest/doctest.h>

#include "layers/context.h"
#include "layers/tape.h"

using namespace shoal;

TEST_CASE("backward runs the records in reverse and frees what each one saved") {
  Tape tape;
  const auto a = std::make_shared<int>(1), b = std::make_shared<int>(2);
  std::vector<int> order;
  tape.record([&order, a, &b] {
    order.push_back(*a);
    CHECK(b.use_count() == 1);  // the later record is gone
  });
  tape.record([&order, b, &a] {
    order.push_back(*b);
    CHECK(a.use_count() == 2);
  });
  tape.backward();
  CHECK(order == std::vector<int>{2, 1});
  CHECK(a.use_count() == 1);
  CHECK(tape.size() == 0);
}

TEST_CASE("a tape that does not record keeps nothing") {
  Tape tape(false);
  const auto saved = std::make_shared<int>(1);
  tape.record([saved] {});
  CHECK(tape.size() == 0);
  CHECK(saved.use_count() == 1);
}

namespace {

// y = x * x, counting its forward runs.
Var square(Device& device, Tape& tape, const Var& x, int& runs) {
  ++runs;
  Var y = make_var(Tensor(device, DType::f32, {1}));
  const float v = *x.value.view().as<float>();
  *y.value.view().as<float>() = v * v;
  tape.record([&device, saved = x.save(), dx = x.grad, dy = y.grad] {
    *dx = Tensor(device, DType::f32, {1});
    *dx->view().as<float>() = 2 * *saved.get().view().as<float>() * *dy->view().as<float>();
  });
  return y;
}

}  // namespace

TEST_CASE("a recomputed segment keeps its input only, and gives the gradient of the plain one") {
  const auto device = make_device("cpu");
  int runs = 0;
  Tape tape;
  Var x = make_var(Tensor(*device, DType::f32, {1}));
  *x.value.view().as<float>() = 3;
  const Segment segment = [&](Tape& t, const std::vector<Var>& in) {
    return std::vector<Var>{square(*device, t, square(*device, t, in[0], runs), runs)};
  };
  std::vector<Var> y = recompute(tape, {x}, segment);
  CHECK(*y[0].value.view().as<float>() == 81);
  CHECK(runs == 2);
  CHECK(tape.size() == 1);
  const int64_t held = device->memory().current;
  *y[0].grad = Tensor(*device, DType::f32, {1});
  *y[0].grad->view().as<float>() = 1;
  y.clear();
  tape.backward();
  CHECK(runs == 4);
  CHECK(*x.grad->view().as<float>() == 4 * 27);
  CHECK(device->memory().current <= held);
}

TEST_CASE("a value that can be computed again is not kept") {
  const auto device = make_device("cpu");
  int runs = 0;
  Var x = make_var(Tensor(*device, DType::f32, {1000}), [&] {
    ++runs;
    return Tensor(*device, DType::f32, {1000});
  });
  const int64_t before = device->memory().current;
  const Saved saved = x.save();
  x = Var();
  CHECK(device->memory().current < before);
  CHECK(saved.get().numel() == 1000);
  CHECK(runs == 1);
}
