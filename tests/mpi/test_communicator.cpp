#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "main.h"

using namespace shoal;

namespace {

// Element i of rank r's contribution: different for each, exact in bf16.
float contribution(int rank, int64_t i) {
  return float((rank + 1) * ((i % 7) - 3));
}

template <typename T>
std::vector<T> fill(int rank, int64_t count) {
  std::vector<T> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[size_t(i)] = T(contribution(rank, i));
  return values;
}

template <typename T>
View view(std::vector<T>& values) {
  return View(values.data(), dtype_of<T>(), Shape{int64_t(values.size())});
}

std::unique_ptr<Communicator> world() {
  return make_mpi_communicator(mpi_session(), 0, mpi_session().rank(), "world", {});
}

template <typename T>
void check_all_reduce(int64_t count) {
  auto comm = world();
  auto values = fill<T>(comm->rank(), count);
  comm->all_reduce(view(values), Reduce::sum, "test").wait();
  const int n = comm->size();
  for (int64_t i = 0; i < count; ++i) {
    REQUIRE(double(float(values[size_t(i)])) == n * (n + 1) / 2 * ((i % 7) - 3));
  }
}

}  // namespace

TEST_CASE("all_reduce sums, small and large, even and uneven counts") {
  for (int64_t count : {1, 2, 3, 1000, 4096, 4097, 100003}) {
    CAPTURE(count);
    check_all_reduce<float>(count);
    check_all_reduce<bf16>(count);
  }
}

TEST_CASE("all_reduce finds the maximum and the minimum") {
  auto comm = world();
  std::vector<double> values(5000, double(comm->rank()));
  comm->all_reduce(view(values), Reduce::max, "test").wait();
  CHECK(values[4999] == comm->size() - 1);
  values.assign(3, double(comm->rank()));
  comm->all_reduce(view(values), Reduce::min, "test").wait();
  CHECK(values[0] == 0);
}

TEST_CASE("bf16 sums are accumulated in f32") {
  auto comm = world();
  // 256 + 1 + 1 + ... in bf16 arithmetic stays 256, since its spacing there is 2.
  std::vector<bf16> values(20000, bf16(comm->rank() == 0 ? 256.0f : 1.0f));
  comm->all_reduce(view(values), Reduce::sum, "test").wait();
  CHECK(float(values[12345]) == float(bf16(256.0f + float(comm->size() - 1))));
}

TEST_CASE("all_gather, in place too, and reduce_scatter") {
  auto comm = world();
  const int n = comm->size();
  std::vector<float> mine = fill<float>(comm->rank(), 333), all(size_t(333 * n));
  comm->all_gather(view(mine), view(all), "test").wait();
  for (int r = 0; r < n; ++r) REQUIRE(all[size_t(r * 333 + 5)] == contribution(r, 5));
  std::vector<float> again(size_t(333 * n));
  std::copy(mine.begin(), mine.end(), again.begin() + comm->rank() * 333);
  const View whole = view(again);
  comm->all_gather(whole.slice(0, comm->rank() * 333, 333), whole, "test").wait();
  CHECK(again == all);

  std::vector<float> part(333);
  comm->reduce_scatter(view(all), view(part), Reduce::sum, "test").wait();
  for (int64_t i = 0; i < 333; ++i) REQUIRE(part[size_t(i)] == float(n) * contribution(comm->rank(), i));
}

TEST_CASE("broadcast, all_to_all, send and recv") {
  auto comm = world();
  const int n = comm->size(), me = comm->rank();
  std::vector<int32_t> value(10, me == n - 1 ? 42 : 0);
  comm->broadcast(view(value), n - 1, "test").wait();
  CHECK(value[9] == 42);

  std::vector<int32_t> out, in(static_cast<size_t>(n));
  for (int r = 0; r < n; ++r) out.push_back(me * 100 + r);
  comm->all_to_all(view(out), view(in), "test").wait();
  for (int r = 0; r < n; ++r) CHECK(in[size_t(r)] == r * 100 + me);

  std::vector<int32_t> to(1, me), from(1, -1);
  Request send = comm->send(view(to), (me + 1) % n, "test");
  comm->recv(view(from), (me + n - 1) % n, "test").wait();
  send.wait();
  CHECK(from[0] == (me + n - 1) % n);
  comm->barrier("test");
}

TEST_CASE("several collectives of one group may be under way") {
  auto comm = world();
  std::vector<std::vector<float>> buffers(4);
  std::vector<Request> requests;
  for (size_t i = 0; i < buffers.size(); ++i) {
    buffers[i] = fill<float>(comm->rank(), 10000 + int64_t(i));
    requests.push_back(comm->all_reduce(view(buffers[i]), Reduce::sum, "test"));
  }
  for (auto& request : requests) request.wait();
  const int n = comm->size();
  for (auto& b : buffers) CHECK(b[1] == float(n * (n + 1) / 2 * -2));
}

TEST_CASE("groups split the world") {
  auto row = make_mpi_communicator(mpi_session(), mpi_session().rank() % 2, mpi_session().rank(), "row", {});
  std::vector<int64_t> one(1, 1);
  row->all_reduce(view(one), Reduce::sum, "test").wait();
  CHECK(one[0] == row->size());
}

TEST_CASE("a collective that never completes is an error that names its label") {
  if (mpi_session().size() == 1) return;
  auto comm =
      make_mpi_communicator(mpi_session(), 0, mpi_session().rank(), "world", {.timeout_seconds = 0.2});
  std::vector<int32_t> value(1);
  if (comm->rank() == 0) {
    Request request = comm->recv(view(value), 1, "layer 3, dI");
    CHECK_THROWS_WITH_AS(request.wait(),
                         doctest::Contains("layer 3, dI (world group) did not finish within 0.2 s"),
                         std::exception);
    world()->barrier("after");
    world()->barrier("after");
    request.wait();
  } else {
    world()->barrier("after");
    if (comm->rank() == 1) comm->send(view(value), 0, "late").wait();
    world()->barrier("after");
  }
}
