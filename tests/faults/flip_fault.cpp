// `shoal train` with a memory that errs: flip_fault RANK STEP SPEC KEY=VALUE... flips one bit of a weight on
// one rank before a step.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "spec/load.h"
#include "train/ranks.h"
#include "train/trainer.h"

using namespace shoal;

namespace {

class FlipBit final : public Hook {
 public:
  FlipBit(int rank, int64_t step) : rank_(rank), step_(step) {}
  void before_step(Trainer& trainer) override {
    if (trainer.runtime().world().rank() != rank_ || trainer.state().step + 1 != step_) return;
    auto* weight = static_cast<float*>(trainer.model().parameters().all().back().compute.view().data);
    uint32_t bits = 0;
    std::memcpy(&bits, weight, sizeof bits);
    bits ^= 1U << 10;
    std::memcpy(weight, &bits, sizeof bits);
  }

 private:
  int rank_;
  int64_t step_;
};

}  // namespace

int main(int count, char** words) {
  return on_ranks([&](const MpiSession* session) {
    const LoadedSpec loaded = load_spec({words[3]}, std::vector<std::string>(words + 4, words + count));
    Runtime runtime(loaded.spec, session);
    RunFolder folder(run_folder_path(loaded.spec), runtime.world());
    Log log(!runtime.first_rank());
    Trainer trainer(loaded, runtime, folder, log, "{}");
    trainer.add(std::make_unique<FlipBit>(std::stoi(words[1]), std::stoll(words[2])));
    return int(trainer.run());
  });
}
