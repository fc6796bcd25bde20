#include <doctest/doctest.h>

#include <vector>

#include "comm/traffic.h"

using namespace shoal;

TEST_CASE("ring volumes are the published ones") {
  CHECK(ring_bytes(Collective::all_reduce, 1000, 4) == 1500);
  CHECK(ring_bytes(Collective::all_gather, 1000, 4) == 750);
  CHECK(ring_bytes(Collective::reduce_scatter, 1000, 5) == 800);
  CHECK(ring_bytes(Collective::all_reduce, 1000, 1) == 0);
}

TEST_CASE("a counting group of any size books its bytes by label") {
  Traffic traffic;
  auto comm = make_traced_communicator(make_counting_communicator(3, 8), traffic);
  std::vector<float> shard(100, 2.0f), whole(800);
  const View in(shard.data(), DType::f32, {100}), out(whole.data(), DType::f32, {800});
  comm->all_gather(in, out, "AG_z layers.0").wait();
  comm->all_gather(in, out, "AG_z layers.1").wait();
  comm->reduce_scatter(out, in, Reduce::sum, "RS_z layers.1").wait();
  CHECK(whole[799] == 2.0f);
  CHECK(traffic.total("AG_z").calls == 2);
  CHECK(traffic.total("AG_z").ring_bytes == 2 * 800 * 4 * 7 / 8);
  CHECK(traffic.total("RS_z").ring_bytes == 800 * 4 * 7 / 8);
  CHECK(traffic.entries().at("AG_z layers.1").calls == 1);
}
