#pragma once

#include "comm/mpi.h"

// The session of this test program.
const shoal::MpiSession& mpi_session();
