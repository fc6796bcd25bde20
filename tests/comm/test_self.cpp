#include <doctest/doctest.h>

#include <vector>

#include "comm/communicator.h"

using namespace shoal;

TEST_CASE("the group of one rank reduces to the data itself and copies the rest") {
  const auto self = make_self_communicator();
  CHECK(self->rank() == 0);
  CHECK(self->size() == 1);
  std::vector<float> a{1, 2, 3}, b(3), c(3), d(3);
  const auto view = [](std::vector<float>& v) { return View(v.data(), DType::f32, {int64_t(v.size())}); };
  self->all_reduce(view(a), Reduce::sum, "test").wait();
  self->all_reduce(view(a), Reduce::max, "test").wait();
  self->broadcast(view(a), 0, "test").wait();
  CHECK(a == std::vector<float>{1, 2, 3});
  self->all_gather(view(a), view(b), "test").wait();
  self->reduce_scatter(view(a), view(c), Reduce::sum, "test").wait();
  self->all_to_all(view(a), view(d), "test").wait();
  self->barrier("test");
  CHECK(b == a);
  CHECK(c == a);
  CHECK(d == a);
}

TEST_CASE("a message to oneself arrives whichever side comes first") {
  const auto self = make_self_communicator();
  std::vector<float> a{4, 5}, b(2), c(2);
  const auto view = [](std::vector<float>& v) { return View(v.data(), DType::f32, {int64_t(v.size())}); };
  Request sent = self->send(view(a), 0, "test");
  self->recv(view(b), 0, "test").wait();
  sent.wait();
  CHECK(b == a);
  Request received = self->recv(view(c), 0, "test");
  self->send(view(a), 0, "test").wait();
  received.wait();
  CHECK(c == a);
}
