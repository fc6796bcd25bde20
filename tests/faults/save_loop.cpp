// Saves a state again and again in the background from the ranks of a grid over z, for save_kill_test.py.
// usage: save_loop FOLDER STEPS
//
// The state is a function of the step. At its start it loads the newest checkpoint and checks every element;
// then it goes on from there to step STEPS. Exit code 1 and one line if something is wrong.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "checkpoint/saver.h"
#include "checkpoint/store.h"
#include "comm/mpi.h"

using namespace shoal;

namespace {

const Shape shape{509, 1021};

int64_t element(int64_t step, int64_t index) {
  return step * 1000003 + index;
}

// This rank's part of the only tensor.
struct State {
  Range part;
  std::vector<int64_t> values;

  explicit State(const Communicator& world)
      : part(padded_part_of(shape.numel(), world.size(), world.rank())), values(size_t(part.count)) {}
  void set(int64_t step) {
    for (int64_t i = 0; i < part.count; ++i) values[size_t(i)] = element(step, part.begin + i);
  }
  std::vector<StateTensor> tensors() {
    return {{"model/state", shape, whole(shape), View(values.data(), DType::i64, Shape{part.count}), part}};
  }
};

void run(Communicator& world, const std::string& folder, int64_t steps) {
  const Report report = [](const std::string& line) { std::printf("%s\n", line.c_str()); };
  const CheckpointStore store(folder, {.keep_last = 2}, world);
  const auto device = make_device("cpu");
  State state(world), wanted(world);
  store.prepare();
  int64_t step = 0;
  if (auto newest = store.open_newest(report, true)) {
    step = newest->info().step;
    newest->read(state.tensors());
    wanted.set(step);
    if (state.values != wanted.values) runtime_failure("step {} has another state", step);
  }
  CheckpointSaver saver(store, report);
  while (step < steps) {
    state.set(++step);
    saver.save({step, step, "", {}}, state.tensors(), *device);
    state.set(-1);  // training goes on
    for (int i = 0; i < 4; ++i) saver.poll();
  }
  saver.wait();
}

}  // namespace

int main(int, char** argv) {
  const MpiSession session;
  std::ofstream(fmt::format("{}/pid.{}", argv[1], session.rank())) << ::getpid() << std::flush;
  try {
    const auto world = make_mpi_communicator(session, 0, session.rank(), "world", {.timeout_seconds = 5});
    run(*world, std::string(argv[1]) + "/ckpt", std::atoll(argv[2]));
  } catch (const std::exception& e) {
    session.fail(1, e.what());
  }
  return 0;
}
