// Ranks that communicate as a run does, one of which fails: rank_fault FOLDER kill|stop|throw TIMEOUT.
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"
#include "comm/heartbeat.h"
#include "comm/mpi.h"

using namespace shoal;

namespace {

void fail(const std::string& how) {
  if (how == "kill") std::raise(SIGKILL);
  if (how == "stop") std::raise(SIGSTOP);
  runtime_failure("a rank has had enough");
}

void work(const MpiSession& session, const std::string& folder, const std::string& how, double timeout) {
  Heartbeat heartbeat;
  heartbeat.open(folder, session.rank());
  Traffic traffic;
  const MpiOptions options{.timeout_seconds = timeout,
                           .blame = [&] { return heartbeat.laggards(session.size()); }};
  const auto world = make_traced_communicator(
      make_mpi_communicator(session, 0, session.rank(), "world", options), traffic, {&heartbeat});
  std::vector<float> gradients(100000, 1.0f);
  for (int step = 0; step < 20; ++step) {
    heartbeat.beat(step, "step");
    for (int bucket = 0; bucket < 3; ++bucket) {
      if (session.rank() == 1 && step == 7 && bucket == 2) fail(how);
      world
          ->all_reduce(View(gradients.data(), DType::f32, {100000}), Reduce::max,
                       "AR_data bucket " + std::to_string(bucket))
          .wait();
    }
  }
}

}  // namespace

int main(int, char** words) {
  MpiSession session;
  try {
    work(session, words[1], words[2], std::atof(words[3]));
  } catch (const std::exception& error) {
    session.fail(1, error.what());
  }
}
