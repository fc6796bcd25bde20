// A sweep: one spec that stands for many runs.
//
//   sweep:
//     product:                         # every combination
//       optimizer.lr: [1e-3, 3e-3]
//     pairs:                           # lists of one length, varied together
//       batch.global: [8, 16]
//       optimizer.lr: [1e-3, 2e-3]
//     shapes:                          # widths x depths whose parameters lie in the window, as the Gemstones
//       width: [64, 128, 256]          # were chosen (McLeish et al. 2025, arXiv 2502.06857)
//       depth: [2, 4, 8]
//       head_dim: 32
//       params: [1e5, 2e6]             # outside the embeddings
//     lr: {rule: gemstones, effective: 5}   # optimizer.lr = effective / (width sqrt(depth)); mup: / width
//     random: {count: 8, seed: 1, ranges: {optimizer.lr: [1e-4, 1e-2, log]}}
//     seeds: [1, 2]
//     cooldowns: {marks: [500, 1000], length: 0.1}   # runs that branch off from a constant rate at these
//     steps max_runs: 200
//
// The parts multiply. The other sections are what the runs share.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/config.h"
#include "spec/load.h"

namespace shoal {

struct SweepRun {
  std::string name;                                         // "lr0.001-seed2"
  std::vector<std::pair<std::string, std::string>> varied;  // key and value, in the order of the sweep
  std::vector<std::string> words;  // overrides that make this run of the spec's files
  LoadedSpec loaded;
  int parent = -1;  // a cooldown: the run that it branches off from, by number
};

struct Sweep {
  std::string name, dir;  // run.name, and run.dir or runs/<name>
  std::vector<SweepRun> runs;
};

// For estimates: a usual vocabulary where the spec leaves it to the tokenizer, which is not opened here.
ModelConfig estimated_model(const RunSpec& spec);

// Throws SpecErrors, or UserError with the place in the file: unknown keys, empty products, lists of unequal
// length, more runs than max_runs.
Sweep load_sweep(const std::vector<std::string>& files, const std::vector<std::string>& overrides,
                 Inputs inputs = Inputs::unchecked);

}  // namespace shoal
