#include <doctest/doctest.h>

#include "comm/self_test.h"
#include "grid_model.h"
#include "layers/replicas.h"

using namespace shoal;

namespace {

// Flips one bit of what this rank holds of a parameter, as failing memory would.
void flip_bit(GridModel& grid, const std::string& name) {
  const View view = grid.model.parameters().find(name)->compute.view();
  std::vector<std::byte> bytes(static_cast<size_t>(view.bytes()));
  grid.device->to_host(bytes.data(), view.data, view.bytes());
  bytes[2] ^= std::byte{1};
  grid.device->to_device(view.data, bytes.data(), view.bytes());
}

}  // namespace

TEST_CASE("a flipped bit in one replica is found and named, on every grid") {
  const int ranks = mpi_session().size(), rank = mpi_session().rank();
  const auto world = make_mpi_communicator(mpi_session(), 0, rank, "world", {});
  for (const Grid& size : all_grids(ranks)) {
    CAPTURE(size.size[0]);
    CAPTURE(size.size[1]);
    CAPTURE(size.size[2]);
    CAPTURE(size.size[3]);
    for (const DType compute : {DType::f32, DType::bf16}) {
      GridModel grid(tiny_neox(), size, compute);
      CHECK(replica_differences(grid.model.parameters(), grid.context, *world).empty());

      // A bias that no axis cuts is held by every rank of a (y) group; a matrix by the data group.
      for (const std::string& name : {grid.model.parameters().all().front().spec.name,
                                      grid.model.parameters().all().back().spec.name}) {
        const Parameter& p = *grid.model.parameters().find(name);
        const int copies = (p.spec.shard.x_dim < 0 ? size[Axis::x] : 1) *
                           (p.spec.shard.y_dim < 0 ? size[Axis::y] : 1) * (p.over_z ? 1 : size[Axis::z]) *
                           size[Axis::data];
        if (rank == 0 && p.compute.numel() > 0) flip_bit(grid, name);
        const auto lines = replica_differences(grid.model.parameters(), grid.context, *world);
        if (rank == 0 && p.compute.numel() > 0) flip_bit(grid, name);
        REQUIRE(lines.size() == (copies > 1 ? 1 : 0));
        if (copies == 1) continue;
        CHECK(lines[0].starts_with(name + ": "));
        if (copies > 2) {
          const std::string expected = "rank 0 (x 0 y 0 z 0 data 0) not as on " + std::to_string(copies - 1);
          CHECK(lines[0].find(expected) != std::string::npos);
        } else {
          CHECK(lines[0].find("one copy on rank ") != std::string::npos);
          CHECK(lines[0].find("rank 0 (x 0 y 0 z 0 data 0)") != std::string::npos);
        }
      }
    }
  }
}

TEST_CASE("the bandwidth of a group is the same number on all its ranks") {
  const auto world = make_mpi_communicator(mpi_session(), 0, mpi_session().rank(), "world", {});
  double mine = measure_bandwidth(*world, 1 << 20, 2), highest = mine;
  world->all_reduce(View(&highest, DType::f64, {1}), Reduce::max, "test").wait();
  CHECK(mine == highest);
  CHECK((mine > 0) == (world->size() > 1));
}
