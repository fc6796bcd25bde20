#include "comm/hosts.h"
#include "comm/self_test.h"
#include "train/grid_table.h"
#include "train/hooks.h"
#include "train/trainer.h"

namespace shoal {

namespace {

constexpr int64_t self_test_bytes = int64_t{4} << 20;
constexpr int self_test_repeats = 3;

class GridHook final : public Hook {
 public:
  void on_start(Trainer& trainer) override {
    Runtime& runtime = trainer.runtime();
    Communicator& world = runtime.world();
    if (world.size() == 1) return;
    const auto ranks = static_cast<size_t>(world.size());
    GridFacts facts{.grid = runtime.context().grid,
                    .hosts = host_names(world),
                    .memory = std::vector<int64_t>(ranks),
                    .bandwidth_bytes = self_test_bytes};
    int64_t memory = runtime.device().memory().current;
    world
        .all_gather(View(&memory, DType::i64, {1}), View(facts.memory.data(), DType::i64, {int64_t(ranks)}),
                    "memory")
        .wait();
    for (size_t axis = 0; axis < num_axes; ++axis) {
      if (facts.grid.size[axis] == 1) continue;
      facts.bandwidth[axis] =
          measure_bandwidth(runtime.context().comm(Axis(axis)), self_test_bytes, self_test_repeats);
      world.all_reduce(View(&facts.bandwidth[axis], DType::f64, {1}), Reduce::min, "self-test").wait();
    }
    for (const std::string& line : grid_lines(facts, trainer.spec())) trainer.log().line(line);
  }
};

}  // namespace

std::unique_ptr<Hook> make_grid_hook() {
  return std::make_unique<GridHook>();
}

}  // namespace shoal
