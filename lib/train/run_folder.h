// The folder of a run. It is never overwritten by accident, and used by one process at a time.
//
//   spec.yaml      the run spec as given           metrics.jsonl  one record a line
//   resolved.yaml  every key with its value        train.log      what was printed
//   env.json       where and with what it ran      tb/            TensorBoard events
//   heartbeat.json what it does at the moment      ckpt/          checkpoints
//   trace.json, trace.csv  with trace.steps        traffic.json   what was sent, of several ranks
#pragma once

#include <string>

#include "comm/communicator.h"
#include "spec/load.h"

namespace shoal {

class RunFolder {
 public:
  // Creates the folder if need be and locks it until the end of the object or the process. Throws UserError
  // if another process holds the lock, or the folder holds files but no run (no resolved.yaml).
  explicit RunFolder(const std::string& path);
  // The same on a grid, where the first rank does it for all. Collective.
  RunFolder(const std::string& path, Communicator& world);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string checkpoints() const { return file("ckpt"); }
  bool holds_run() const { return holds_run_; }  // a run was started here before

  // Writes spec.yaml, resolved.yaml and env.json (JSON text), each atomically; resolved.yaml is what makes it
  // a run.
  void describe_run(const LoadedSpec& loaded, const std::string& environment);

 private:
  void claim();

  std::string path_;
  int lock_ = -1;
  bool holds_run_ = false;
};

// run.dir, or runs/<run.name>.
std::string run_folder_path(const RunSpec& spec);

// Facts of the machine and the process as JSON: host, processor, threads, user-given build report, start
// time.
std::string environment_json(const std::string& build_report, int threads, int ranks = 1);

}  // namespace shoal
