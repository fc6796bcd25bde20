// What a run folder tells about its run: the metrics by key, the resolved spec, the environment, samples of
// text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace shoal::report {

struct Point {
  int64_t step = 0;
  int64_t tokens = 0;  // consumed since the start of training; 0 where the run did not say
  double value = 0;    // NaN where the run logged a value that is not finite
};

// What a run gives back of pages that it saw for so many epochs (`shoal eval memorization --epochs`).
struct Memorization {
  int64_t epochs = 0, tokens = 0, sequences = 0;  // tokens asked for of each sequence
  double share = 0, matched = 0, rouge_l = 0;     // sequences right to the last token; means over sequences
};

// What the first rank sent for one purpose (the first word of the labels), summed over the layers.
struct TrafficPurpose {
  std::string name;  // "AG_z"
  double calls = 0, ring_bytes = 0, wait_seconds = 0, under_way_seconds = 0;
};

struct TrafficLog {
  std::string grid;  // "x 2, y 1, z 1, data 2"
  double steps = 0, seconds = 0;
  std::vector<TrafficPurpose> purposes;
};

struct RunLog {
  std::string name;                                  // the last part of the folder's path
  std::string folder;                                // as given
  std::map<std::string, std::vector<Point>> series;  // by key of metrics.jsonl, in the order of the steps
  std::vector<std::pair<std::string, std::string>> environment;  // env.json, nested keys joined by dots
  std::string resolved_spec;                                     // resolved.yaml, or empty
  std::string samples;                                           // samples.txt, or empty
  std::vector<Memorization> memorization;                        // memorization.jsonl, in the order of epochs
  TrafficLog traffic;        // traffic.json of the run's last start; no purposes if it is not there
  int unreadable_lines = 0;  // of metrics.jsonl, a torn last line not counted

  const std::vector<Point>& points(const std::string& key) const;  // empty if the run has no such key
};

// Reads metrics.jsonl (one JSON object a line with "step" and any numbers) and, where they are there,
// env.json, resolved.yaml, samples.txt, memorization.jsonl and traffic.json. A step that appears again
// replaces what was logged from it on, as happens when a run resumed from an earlier checkpoint. Throws
// UserError if the folder has no metrics.jsonl.
RunLog read_run(const std::filesystem::path& folder);

// The metrics of one file's text, for tests: fills series and unreadable_lines.
void read_metrics(const std::string& text, RunLog& log);

}  // namespace shoal::report
