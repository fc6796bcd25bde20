// What the ranks of a world tell each other while they write or read one checkpoint. Everything here is
// collective.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "checkpoint/tensor_hash.h"
#include "comm/communicator.h"

namespace shoal {

// Returns if no rank has a failure. Otherwise every rank throws that of the lowest rank that has one, with
// its rank before it; of its own kind (DamagedCheckpoint, UserError), or else as a RuntimeFailure.
void agree(Communicator& world, const std::exception_ptr& failure);

// Calls the function, which must not communicate, and agrees on what it throws.
template <typename Function>
void together(Communicator& world, const Function& function) {
  std::exception_ptr failure;
  try {
    function();
  } catch (...) {
    failure = std::current_exception();
  }
  agree(world, failure);
}

// Throws on every rank unless all have the same text, which the message calls `what`.
void agree_on(Communicator& world, const std::string& text, const std::string& what);

// The sums over the ranks, element by element; all give the same number of elements.
void add_up(Communicator& world, std::vector<TensorHash>& hashes);
void add_up(Communicator& world, std::vector<int64_t>& counts);

void broadcast_from_first(Communicator& world, std::vector<int64_t>& values);

}  // namespace shoal
