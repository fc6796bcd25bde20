#include <doctest/doctest.h>

#include <chrono>

#include "comm/hosts.h"
#include "main.h"

using namespace shoal;

TEST_CASE("texts of all ranks come to the first in order, whatever their length") {
  const auto world = make_mpi_communicator(mpi_session(), 0, mpi_session().rank(), "world", {});
  const auto text = [](int rank) {
    return std::string(static_cast<size_t>(rank * 100000), char('a' + rank));
  };
  std::vector<int> ranks;
  collect(*world, text(world->rank()), [&](int rank, const std::string& got) {
    ranks.push_back(rank);
    CHECK(got == text(rank));
  });
  REQUIRE(ranks.size() == (world->rank() == 0 ? size_t(world->size()) : 0));
  for (size_t r = 0; r < ranks.size(); ++r) CHECK(ranks[r] == int(r));
}

TEST_CASE("clocks of one host are one clock, and of others are compared by messages") {
  const auto world = make_mpi_communicator(mpi_session(), 0, mpi_session().rank(), "world", {});
  std::vector<std::string> hosts = host_names(*world);
  REQUIRE(hosts.size() == size_t(world->size()));
  for (const std::string& host : hosts) CHECK(host == host_name());
  CHECK(clock_offset(*world, hosts).count() == 0);

  // As if each rank had a host of its own: the true offset is still 0, and what is measured cannot be wrong
  // by more than all the messages took together.
  for (size_t r = 0; r < hosts.size(); ++r) hosts[r] += std::to_string(r);
  const auto begin = std::chrono::steady_clock::now();
  const auto offset = clock_offset(*world, hosts);
  CHECK(std::chrono::abs(offset) <= std::chrono::steady_clock::now() - begin);
}
