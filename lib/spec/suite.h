// A suite: one spec that stands for several runs, sizes x data variants x seeds, which see the same batches.
//
//   suite:
//     sizes:                      # each a name and the keys that make it, of model:, optimizer: and the like
//       - {name: small, model: {hidden_size: 64}}
//       - {name: large, model: {hidden_size: 128}, optimizer: {lr: 5e-4}}
//     data:                       # optional: each a name and keys of data:
//       - {name: standard, train: [{path: corpus}]}
//       - {name: deduped, train: [{path: corpus_deduped}]}
//     seeds: [1, 2]               # optional: of the weights; the order of the data has its own, data.seed
//
// The other sections are the runs' common part. What a size may not set is what the order of the data or its
// cut into steps depends on, so that step s of every run of a data variant is the same batch, as in the
// Pythia suite (Biderman et al. 2023, arXiv 2304.01373).
#pragma once

#include <string>
#include <vector>

#include "spec/load.h"

namespace shoal {

struct SuiteRun {
  std::string name;              // "large-deduped-seed2": the parts that the suite varies
  std::string size, data, seed;  // its place in the suite; empty where that does not vary
  LoadedSpec loaded;  // run.name is the suite's and the run's name, run.dir a folder in the suite's
};

struct Suite {
  std::string name, dir;       // run.name, and run.dir or runs/<name>
  std::vector<SuiteRun> runs;  // sizes fastest, then data, then seeds
};

// Reads the files of a spec with a section suite; overrides change the common part. Throws SpecErrors or
// UserError.
Suite load_suite(const std::vector<std::string>& files, const std::vector<std::string>& overrides,
                 Inputs inputs = Inputs::unchecked);

}  // namespace shoal
