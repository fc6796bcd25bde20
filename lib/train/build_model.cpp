#include "train/build_model.h"

#include <fmt/format.h>

#include "base/units.h"
#include "data/tokenizer.h"

namespace shoal {

ModelConfig model_of(const RunSpec& spec) {
  // The tokenizer is opened only where its size matters: reading a large one takes a while.
  const int64_t tokenizer_vocab = spec.model.vocab_size > 0 || spec.data.tokenizer.empty()
                                      ? 0
                                      : open_tokenizer(spec.data.tokenizer)->vocab_size();
  return resolve_model(spec.model, tokenizer_vocab);
}

std::unique_ptr<Decoder> build_model(const RunSpec& spec, Context& context) {
  DecoderOptions options;
  options.recompute = spec.precision.recompute;
  options.z_loss = spec.loss.z_loss;
  options.loss_chunk = spec.loss.chunk;
  auto model = std::make_unique<Decoder>(model_of(spec), context, options);
  model->materialize();
  return model;
}

std::string describe(const ModelConfig& config, const PrecisionSection& precision) {
  return fmt::format(
      "{}: {} layers, hidden {}, {} heads, vocabulary {}; {} parameters, {} without embeddings; {}",
      config.family, config.num_layers, config.hidden_size, config.num_heads, config.vocab_size,
      format_count(double(config.parameter_count())), format_count(double(config.non_embedding_parameters())),
      precision.compute);
}

}  // namespace shoal
