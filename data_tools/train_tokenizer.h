// Text files to a tokenizer.json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/log.h"
#include "data_tools/block_reader.h"

namespace shoal {

struct TrainTokenizerSettings {
  std::vector<std::string> inputs;
  std::string output;  // the file to write
  Layout layout;
  int64_t vocab_size = 8192;
  int64_t min_count = 2;
  bool nfc = false;  // normalise text, in training and when the tokenizer is used
  bool skip_invalid = false;
  int threads = 1;
};

struct TrainTokenizerCounts {
  int64_t text_bytes = 0, invalid = 0;
  int64_t pieces = 0;      // different ones
  int64_t vocab_size = 0;  // reached
  double seconds = 0;
};

// Throws UserError naming file and line.
TrainTokenizerCounts train_tokenizer(const TrainTokenizerSettings& settings, Log& log);

}  // namespace shoal
