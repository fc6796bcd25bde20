// Data whose sequences are the training rows themselves, in training order: sample i is sequence i. The
// Pythia suite is published like this, its rows having 2049 tokens (EleutherAI/pythia,
// utils/mmap_dataset.py).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/token_file.h"

namespace shoal {

class PreshuffledSource : public SampleSource {
 public:
  // Files are read one after the other. token_limit: ids at or past it are an error. Throws UserError if the
  // first row of a file has not seq_length + 1 tokens; the others are checked when they are read.
  PreshuffledSource(std::vector<std::shared_ptr<const TokenFile>> files, int64_t seq_length,
                    std::vector<int64_t> token_limits);

  int64_t size() const override { return first_.back(); }
  int64_t seq_length() const override { return seq_length_; }
  void read(int64_t index, int32_t* row) const override;
  std::string describe() const override;

 private:
  void check_length(const TokenFile& file, int64_t sequence) const;

  std::vector<std::shared_ptr<const TokenFile>> files_;
  int64_t seq_length_;
  std::vector<int64_t> token_limits_;
  std::vector<int64_t> first_;  // first sample of each file, and the size
};

}  // namespace shoal
