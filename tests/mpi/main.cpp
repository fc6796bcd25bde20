// A doctest main for tests that run on several ranks: every rank runs the same cases in the same order; only
// rank 0 reports, and a failure on any rank fails the program.
#define DOCTEST_CONFIG_IMPLEMENT
#include "main.h"

#include <mpi.h>

#include <doctest/doctest.h>

namespace {
const shoal::MpiSession* session = nullptr;
}

const shoal::MpiSession& mpi_session() {
  return *session;
}

int main(int argc, char** argv) {
  shoal::MpiSession mpi;
  session = &mpi;
  doctest::Context context(argc, argv);
  if (mpi.rank() != 0) context.setOption("minimal", true);
  int result = context.run(), worst = 0;
  MPI_Allreduce(&result, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}
