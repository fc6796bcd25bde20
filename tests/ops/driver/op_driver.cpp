// The one driver of the operations' tests, for every backend:
//   op_driver test    random cases against the float64 reference
//   op_driver grad    gradients against finite differences of the float64 reference
//   op_driver perf    time, and what part of the machine's speed it is
//   op_driver support which operations a backend has in which type
// Options: --backend NAME, --op NAME, --seed N, --cases N.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>

#include "base/error.h"
#include "ops/driver/modes.h"
#ifdef SHOAL_EMULATED
#include "ops/gpu/gpu_ops.h"
#endif
#include "ops/reference/reference_ops.h"

namespace shoal::testing {
namespace {

struct Command {
  std::string mode, backend = "cpu";
  Selection selection;
};

Command parse(int argc, char** argv) {
  Command command;
  if (argc > 1) command.mode = argv[1];
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string option = argv[i], value = argv[i + 1];
    if (option == "--backend") {
      command.backend = value;
    } else if (option == "--op") {
      command.selection.op = value;
    } else if (option == "--seed") {
      command.selection.seed = std::stoull(value);
    } else if (option == "--cases") {
      command.selection.cases = std::stoi(value);
    } else {
      user_error("unknown option {}", option);
    }
  }
  return command;
}

int run_on(Ops& backend, const Command& command);

int run(const Command& command) {
#ifdef SHOAL_EMULATED
  if (command.backend == "gpu") {
    GpuDevice device;
    return run_on(*make_gpu_ops(device), command);
  }
#endif
  const auto device = make_device(command.backend == "reference" ? "cpu" : command.backend);
  const auto backend = command.backend == "reference" ? make_reference_ops(*device) : make_ops(*device);
  return run_on(*backend, command);
}

int run_on(Ops& backend, const Command& command) {
  if (command.mode == "test") return run_test(backend, command.selection);
  if (command.mode == "grad") return run_grad(backend, command.selection);
  if (command.mode == "perf") return run_perf(backend, command.selection);
  if (command.mode == "support") return run_support(backend);
  user_error("usage: op_driver test|grad|perf|support [--backend NAME] [--op NAME] [--seed N] [--cases N]");
}

}  // namespace
}  // namespace shoal::testing

int main(int argc, char** argv) {
  try {
    return shoal::testing::run(shoal::testing::parse(argc, argv));
  } catch (const std::exception& e) {
    fmt::print(stderr, "op_driver: {}\n", e.what());
    return 2;
  }
}
