// Starting MPI where a launcher has started several processes, and only there.
#pragma once

#include <functional>

#include "comm/mpi.h"

namespace shoal {

// Calls work with an MPI session if mpiexec, srun or another launcher started this process, else with null,
// and returns what it returns. With several ranks, an error on any of them is printed once and ends all with
// its exit code; with one rank it is thrown. Throws UserError where Slurm started several tasks that know
// nothing of each other.
int on_ranks(const std::function<int(const MpiSession*)>& work);

}  // namespace shoal
