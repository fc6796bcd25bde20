// A run small enough for a unit test: a corpus of a few hundred tokens, two layers of width 16.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "temp_folder.h"
#include "train/hook.h"

namespace shoal::test {

class TinyRun {
 public:
  TinyRun();  // writes the corpus

  // A spec with the overrides on top, in the folder "run" unless run.dir is among them.
  std::vector<std::string> words(const std::vector<std::string>& overrides) const;

  // Trains in this process, with one more hook. Returns the exit code; errors are thrown.
  ExitCode train(const std::vector<std::string>& overrides, std::unique_ptr<Hook> hook = nullptr) const;

  std::string path(const std::string& name) const { return folder_ / name; }
  // The lines of a run's metrics.jsonl without what depends on time.
  std::vector<std::string> metrics(const std::string& run = "run") const;
  // Everything in a checkpoint by name: a hash for each tensor, and the texts. spec_yaml is left out.
  std::map<std::string, std::string> checkpoint(int64_t step, const std::string& run = "run") const;

 private:
  TempFolder folder_;
};

// Asks to stop after a step, as a signal would.
class StopAfter final : public Hook {
 public:
  explicit StopAfter(int64_t step) : step_(step) {}
  void after_step(Trainer& trainer, const StepRecord& record) override;

 private:
  int64_t step_;
};

}  // namespace shoal::test
