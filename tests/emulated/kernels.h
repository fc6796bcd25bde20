// Kernels that keep the rules, and kernels that break one each. Compiled for the emulator and, unchanged, by
// nvcc.
#pragma once

#include "device/gpu/kernel.h"

namespace shoal::testing {

// out[b] = the sum of in[b * n .. b * n + n), by shuffles and shared memory; 128 threads.
void block_sums(const float* in, float* out, int n, int blocks);
// out [n, m] = in [m, n] transposed, by tiles in dynamic shared memory.
void transpose(const float* in, float* out, int m, int n);
// counts[value] += 1 for each of n values, by atomic operations.
void histogram(const int* values, int* counts, int n);
// votes[0] = whether all of 32 values are positive, votes[1] = whether any is.
void vote(const float* values, int* votes);

// Each breaks its rule if told so, and keeps all if not.
void neighbour(float* out, bool race);                   // reads a neighbour's shared value without a barrier
void neighbour_of_warp(float* out, bool race);           // the same within a warp
void across_blocks(float* out, bool race);               // two blocks write one element
void overwritten(float* out, bool race);                 // writes what others may still have to read
void write_behind(float* out, int n, bool outside);      // writes element n
void shared_behind(float* out, bool outside);            // reads behind a shared array
void unwritten(const float* in, float* out, bool read);  // reads what nobody wrote
void divergent(float* out, bool diverges);               // half of the threads skip a barrier
void two_barriers(float* out, bool diverges);            // the halves wait at different barriers

}  // namespace shoal::testing
