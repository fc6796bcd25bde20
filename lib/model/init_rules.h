// The named rules for initial weights.
#pragma once

#include "layers/parameter.h"
#include "model/config.h"

namespace shoal {

// The rule of a matrix: embedding, qkv, mlp up and head by config.init; the projections back into the
// residual stream of layer `layer` (from 0) by config.output_init. Throws UserError for an unknown name.
// Standard deviations, with hidden size h and L layers:
//   small_init     sqrt(2 / (5 h))        Nguyen and Salazar 2019
//   wang_init      2 / (L sqrt(h))        Wang and Komatsuzaki 2021
//   normal         init_std
//   scaled_normal  init_std / sqrt(2 L)   Radford et al. 2019
//   mitchell       1 / sqrt(h), projections back 1 / sqrt(2 h (layer + 1)); cut at 3 sigma    Groeneveld et
//   al. 2024 takase         sqrt(2 / (5 h)), projections back a further 1 / sqrt(2 L); cut at 3 sigma  Takase
//   et al. 2023
InitRule input_init(const ModelConfig& config);
InitRule output_init(const ModelConfig& config, int64_t layer);

}  // namespace shoal
