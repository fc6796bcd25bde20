// The model that a run spec describes.
#pragma once

#include <memory>
#include <string>

#include "layers/context.h"
#include "model/decoder.h"
#include "spec/run_spec.h"

namespace shoal {

// Its sizes, the vocabulary read from the tokenizer where the spec leaves it open. Throws UserError.
ModelConfig model_of(const RunSpec& spec);

// With initial weights. Throws UserError for shapes that cannot be built.
std::unique_ptr<Decoder> build_model(const RunSpec& spec, Context& context);

// "gpt-neox: 6 layers, hidden 512, 8 heads, vocabulary 50304; 70.4M parameters, 18.9M without embeddings;
// bf16"
std::string describe(const ModelConfig& config, const PrecisionSection& precision);

}  // namespace shoal
