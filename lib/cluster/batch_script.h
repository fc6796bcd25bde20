// A batch job that trains: the scheduler's script for one run, or an array of several.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/machine.h"

namespace shoal {

struct BatchJob {
  std::string name;
  int64_t ranks = 1;
  int64_t minutes = 60;                // the time limit of one start
  int64_t lead_seconds = 180;          // before the limit, to save in
  std::string account, queue;          // empty: none, the machine's
  std::string program;                 // the path of shoal
  std::vector<std::string> specs;      // more than one: an array, a task each
  std::vector<std::string> overrides;  // for all of them
};

// The text to give to sbatch or bsub. The job saves before its time is up, goes back into the queue, and goes
// on where it stopped, until its runs are done. Throws UserError where machine and job do not go together.
//
// The template is slurm/<scheduler>.sh. In it and in the machine's texts stand for values of the job:
// @name@, @machine@, @summary@, @ranks@, @nodes@, @ranks_per_node@ (at most the machine's), @cores@ (a rank),
// @minutes@, @lead_seconds@, @stop_minutes@ (the limit less the lead), @program@, @specs@, @last@ (the index
// of the last spec), @tasks@ (the number of specs), @overrides@, @options@, @setup@, @environment@, @launch@.
std::string batch_script(const Machine& machine, const BatchJob& job);

}  // namespace shoal
