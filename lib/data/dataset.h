// What training reads: the order of samples as a function of (spec, global sample index).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "spec/run_spec.h"

namespace shoal {

// One split of the data as rows of seq_length + 1 tokens, any of which can be had in O(1) (O(log documents)).
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  virtual int64_t size() const = 0;  // samples; an index at or past it is an error, never wrapped
  virtual int64_t seq_length() const = 0;
  virtual void read(int64_t index, int32_t* row) const = 0;  // seq_length + 1 tokens; thread-safe
  virtual std::string describe() const = 0;
};

enum class Split { train, valid, test };

// The samples of a split in training order. For train, at least needed_samples are there (documents are
// repeated over epochs, each in its own order) or a UserError says what is missing; valid and test hold what
// the files hold, once, in file order, whatever data.order is. Null if the spec names no such split.
std::unique_ptr<SampleSource> open_split(const RunSpec& spec, Split split, int64_t needed_samples);

// A batch on the host: B rows of T. Targets are the row shifted by one. weight is 1 for a kept target, 0 for
// a dropped one (goldfish, padding).
struct HostBatch {
  int64_t rows = 0, seq_length = 0;
  std::vector<int32_t> tokens, targets;  // [B * T]
  std::vector<float> weights;            // [B * T]
  int64_t kept = 0;                      // number of weights that are 1
};

}  // namespace shoal
