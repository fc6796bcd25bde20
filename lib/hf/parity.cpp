#include "hf/parity.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "hf/weights.h"
#include "model/decoder.h"

namespace shoal {
namespace {

constexpr int64_t prompt_length = 16;

std::vector<float> logits_of(Decoder& model, Context& context,
                             const std::function<void(Parameter&)>& read_weights) {
  for (Parameter& parameter : model.parameters().all()) read_weights(parameter);
  model.parameters().masters_changed(context);
  std::vector<int32_t> prompt;
  for (int64_t i = 0; i < prompt_length; ++i)
    prompt.push_back(int32_t((7919 * i + 1) % model.config().vocab_size));
  const Tensor logits = model.logits(prompt.data(), 1, prompt_length);
  std::vector<float> values(static_cast<size_t>(logits.numel()));
  context.device.to_host(values.data(), logits.view().data, logits.view().bytes());
  return values;
}

}  // namespace

Parity compare_logits(CheckpointReader& checkpoint, const HfFolder& folder, const ModelConfig& config) {
  const auto device = make_device("cpu");
  const auto ops = make_ops(*device);
  Context context = make_local_context(*device, *ops, DType::f32, 1);
  Decoder model(config, context, {});
  model.materialize();
  const std::vector<float> ours = logits_of(model, context, [&](Parameter& p) {
    checkpoint.read({"model/" + p.spec.name, p.spec.shape, whole(p.spec.shape), p.master});
  });
  const auto parameters = hf_parameters(config);
  const std::vector<float> theirs = logits_of(
      model, context, [&](Parameter& p) { read_parameter(folder, parameters.at(p.spec.name), p.master); });

  Parity parity;
  double difference = 0, norm = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    const double d = double(ours[i]) - theirs[i];
    difference += d * d;
    norm += double(ours[i]) * ours[i];
    parity.largest = std::max(parity.largest, std::abs(d));
  }
  parity.relative = difference == 0 ? 0 : std::sqrt(difference / norm);
  parity.positions = prompt_length;
  const auto vocab = static_cast<std::ptrdiff_t>(config.vocab_size);
  for (std::ptrdiff_t row = 0; row < prompt_length; ++row) {
    const auto best = [&](const std::vector<float>& logits) {
      const auto first = logits.begin() + row * vocab;
      return std::max_element(first, first + vocab) - first;
    };
    parity.same_choice += best(ours) == best(theirs);
  }
  return parity;
}

}  // namespace shoal
