// The points that scaling laws are fitted to: one row a (model, budget) pair.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

struct LawPoint {
  std::string run;              // which run it belongs to; may be empty
  double params = 0;            // parameters as the law counts them
  double tokens = 0;            // training tokens seen
  double width = 0, depth = 0;  // 0: not known
  double flops = 0;             // training FLOPs; 0: not known
  double loss = 0;              // validation loss, nats a token
};

// Reads a .csv (header row) or .jsonl file. Columns by name: params (or params_active_precise, "Model Size"),
// tokens, loss (or final_loss), width, depth, flops (or FLOPs, "Training FLOP"), run (or run_name). tokens
// may be absent where flops is there: tokens = flops / (6 params). Throws UserError with the row for a value
// that is missing, not a number, not finite or not positive.
std::vector<LawPoint> read_law_points(const std::string& path);

}  // namespace shoal
