// Every subcommand, one function a cmd_*.cpp.
#pragma once

#include "shoal/command.h"

namespace shoal {

Command bench_command();
Command bench_gemm_command();
Command bench_ops_command();
Command bench_step_command();
Command check_command();
Command ckpt_command();
Command hf_command();
Command import_config_command();
Command completion_command();
Command data_buckets_command();
Command data_command();
Command data_index_command();
Command data_inspect_command();
Command data_show_command();
Command data_tokenize_command();
Command eval_command();
Command eval_memorization_command();
Command eval_prediction_command();
Command generate_command();
Command man_command();
Command report_command();
Command fit_command();
Command show_command();
Command slurm_command();
Command suite_command();
Command sweep_command();
Command train_command();

// The whole program: the root of the command table.
Command shoal_program();

}  // namespace shoal
