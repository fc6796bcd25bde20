// Communicators over MPI. Every collective runs in the background of the caller; wait() polls and yields the
// core between polls, because MPICH's blocking calls cost 10 to 50 ms each when ranks outnumber cores.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.h"

namespace shoal {

// MPI from MPI_Init to MPI_Finalize; one a process.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  int local_size() const { return local_size_; }  // ranks that share this one's host

  // Ends every rank at once. For a rank that failed alone: the others may be waiting for it.
  [[noreturn]] static void abort(int exit_code);
  // The same after printing "shoal: error on rank 3: <message>" to standard error, once: where several ranks
  // fail at the same moment, as after a time-out or with a mistake that all of them see, the first one
  // speaks.
  [[noreturn]] void fail(int exit_code, const std::string& message) const;

  // A collective has run into the time-out: nothing waits for another one, abort() is what is left.
  void give_up() const { given_up_ = true; }
  bool given_up() const { return given_up_; }

 private:
  mutable std::atomic<bool> given_up_ = false;
  int rank_ = 0, size_ = 1, local_size_ = 1;
};

struct MpiOptions {
  double timeout_seconds = 600;             // a collective that takes longer is an error that names its label
  std::function<std::string()> blame = {};  // called then: who is behind, for the message
};

// The ranks of the world that pass the same color, ordered by key. Collective over the world. The session
// must outlive the communicator. `name` is for messages ("x", "z", "world").
std::unique_ptr<Communicator> make_mpi_communicator(const MpiSession& session, int color, int key,
                                                    const std::string& name, const MpiOptions& options);

}  // namespace shoal
