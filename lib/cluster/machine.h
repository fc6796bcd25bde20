// A machine to run on, as far as a batch job has to know it. Machines are data: configs/machines/*.yaml, and
// any file of that form.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace shoal {

// Texts may hold the names of batch_script.h between @ signs.
struct Machine {
  std::string name;
  std::string summary;
  std::string scheduler;             // slurm | lsf: which of slurm/*.sh a job is written from
  int64_t ranks_per_node = 0;        // one a GPU where there are GPUs; 0: one node, however many ranks
  int64_t cores_per_rank = 1;        // what OpenMP gets
  bool account_needed = false;       // jobs are refused without one
  std::string queue;                 // the usual one; empty: the scheduler's default
  std::vector<std::string> options;  // of the scheduler, one a line
  std::vector<std::string> setup;    // shell lines before anything runs, such as module load
  std::vector<std::pair<std::string, std::string>> environment;
  std::string launch;  // what starts one process a rank: the program and its words follow
};

// The machine of that name, or of a YAML file where the name has a '/' or ends in ".yaml". Throws UserError
// with the file's line for what is wrong in it, and with the known names for one that there is not.
Machine load_machine(const std::string& name);

// The same from text; `where` stands in for the file's name.
Machine parse_machine(const std::string& yaml, const std::string& name, const std::string& where);

std::vector<std::string> machine_names();

}  // namespace shoal
