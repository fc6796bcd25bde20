// A sign of life that every rank keeps in a file, and who is behind when a collective does not end.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "comm/traffic.h"

namespace shoal {

// What a rank last told about itself.
struct Beat {
  int rank = 0;
  int64_t pid = 0;
  std::string host;
  int64_t step = 0;
  std::string phase;        // "start", "step", "eval", "save", ...
  int64_t collectives = 0;  // started so far
  std::string label;        // of the last one
  double time = 0;          // seconds since the epoch
};

// One line of JSON and of fixed length, written in place: a reader gets it whole, and a full disk cannot stop
// it. A beat that cannot be written is no reason to end a run.
class Heartbeat : public CommObserver {
 public:
  Heartbeat() = default;  // beats go nowhere until there is a file
  ~Heartbeat() override;
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  // From here on beats go to beat_file(folder, rank). Throws RuntimeFailure if the file cannot be made.
  void open(const std::string& folder, int rank);
  // Who of so many ranks is behind, by the files beside this one; empty without a file.
  std::string laggards(int ranks) const;

  void beat(int64_t step, std::string_view phase);
  void started(std::string_view label) override;

 private:
  void write();

  std::mutex mutex_;
  Beat beat_;
  std::string folder_;
  int file_ = -1;
};

// heartbeat.json of rank 0, heartbeat.<rank>.json of the others.
std::string beat_file(const std::string& folder, int rank);

// The beats of ranks 0 .. ranks-1; a rank that has left none has pid 0.
std::vector<Beat> read_beats(const std::string& folder, int ranks);

// Who is behind: the ranks of the lowest step, and among them those that have started the fewest collectives,
// with all that is known of them. On a grid all ranks start the same collectives in the same order.
// `now` in seconds since the epoch.
std::string name_laggards(const std::vector<Beat>& beats, double now);

double seconds_since_epoch();

}  // namespace shoal
