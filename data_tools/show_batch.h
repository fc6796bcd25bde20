// The batch of a step of a run, from the run's spec alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/tokenizer.h"

namespace shoal {

struct BatchRows {
  std::vector<int64_t> samples;  // global sample numbers
  int64_t length = 0;            // tokens in a row, seq_length + 1
  std::vector<int32_t> tokens;   // [samples, length]
};

// The rows of a step, counted from 0: step s is the batch that a checkpoint of step s has not seen yet. With
// a rank of the spec's grid, the rows that it works on. Throws UserError for a step or a rank that the run
// does not have.
BatchRows batch_of(const RunSpec& spec, const SampleSource& source, int64_t step,
                   std::optional<int64_t> rank);

// "17: 407 408 500 ..." a row, or each row's text behind a line with its number.
std::string ids_text(const BatchRows& batch);
std::string decoded_text(const BatchRows& batch, const Tokenizer& tokenizer);

// The rows as a .npy array [rows, length]: u16 if every id fits, else i32.
void write_batch_npy(const BatchRows& batch, const std::string& path);

}  // namespace shoal
