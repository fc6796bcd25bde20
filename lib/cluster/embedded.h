// The files of configs/machines and slurm, as they were when the program was built.
#pragma once

#include "spec/presets.h"

namespace shoal {

const std::vector<EmbeddedFile>& embedded_machines();
const std::vector<EmbeddedFile>& embedded_templates();

}  // namespace shoal
