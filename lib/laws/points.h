// The points that scaling laws are fitted to: one row a (model, budget) pair.
#pragma once

#include <cstdint>
#include <map>
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
  std::string row = {};         // "losses.csv:17", for messages
};

// "losses.csv:17 (run wide-3)", or what of it is known.
std::string describe(const LawPoint& point);

struct LawTableOptions {
  // What a column is called in the file, where it is none of the usual names: {"loss", "valid_loss"}.
  std::map<std::string, std::string> columns;
  bool skip_bad_rows = false;  // leave out rows that cannot be used, with a warning each
};

struct LawTable {
  std::vector<LawPoint> points;
  std::vector<std::string> warnings;
};

// Reads a .csv (header row) or .jsonl file. Columns by name: params (or params_active_precise, "Model Size"),
// tokens, loss (or final_loss), width, depth, flops (or FLOPs, "Training FLOP"), run (or run_name). tokens
// may be absent where flops is there: tokens = flops / (6 params). Throws UserError with the row for a value
// that is missing, not a number, not finite or not positive.
LawTable read_law_table(const std::string& path, const LawTableOptions& options = {});
std::vector<LawPoint> read_law_points(const std::string& path);

// Leaves out the points with a loss at or above the count-th largest.
void drop_worst(std::vector<LawPoint>& points, size_t count);

// Indices of the points of each shape, shapes by rising params: of equal width and depth, and of params that
// are within 0.2 % (numbers read off a figure differ that much).
std::vector<std::vector<size_t>> by_shape(const std::vector<LawPoint>& points);

// A resample with replacement, the n-th of a seed: of single points, or of whole shapes with all their
// points, which keeps together what one run gave. How often each point was drawn.
enum class Resample { points, shapes };
std::vector<double> resample_weights(const std::vector<LawPoint>& points, Resample unit, uint64_t seed,
                                     uint64_t n);

}  // namespace shoal
