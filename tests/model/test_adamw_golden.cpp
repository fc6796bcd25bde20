// A short training run against PyTorch's (tests/golden/make_golden.py).
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "model/golden.h"
#include "optim/clip.h"
#include "optim/optimizer.h"

using namespace shoal;

TEST_CASE("50 steps of AdamW with clipping follow PyTorch's losses and weights") {
  const Golden golden("adamw_neox");
  const auto device = make_device("cpu");
  const auto ops = make_ops(*device);
  Context context = make_local_context(*device, *ops, DType::f32, 1);
  Decoder model(golden.config(), context, {});
  model.materialize();
  golden.load("weight", model, context);

  const auto hyper = nlohmann::json::parse(golden.hyper());
  OptimizerSection section;
  hyper.at("betas").get_to(section.betas);
  hyper.at("eps").get_to(section.eps);
  hyper.at("weight_decay").get_to(section.weight_decay);
  hyper.at("clip_norm").get_to(section.clip_norm);
  const auto optimizer = make_optimizer(section, model.parameters(), context);

  const auto data = golden.ints("data");
  const auto lr = golden.doubles("lr"), losses = golden.doubles("losses"), norms = golden.doubles("norms");
  constexpr int64_t B = 4, T = 16;
  for (size_t step = 0; step < losses.size(); ++step) {
    std::vector<int32_t> tokens, targets;
    for (int64_t b = 0; b < B; ++b) {
      const auto* row = data.data() + (int64_t(step) * B + b) * (T + 1);
      tokens.insert(tokens.end(), row, row + T);
      targets.insert(targets.end(), row + 1, row + T + 1);
    }
    model.parameters().clear_grads();
    const LossSums sums = model.train({B, T, tokens.data(), targets.data(), nullptr}, B * T);
    const double norm = gradient_norm(model.parameters(), context);
    optimizer->apply(int64_t(step) + 1, lr[step], clip_scale(norm, section.clip_norm));
    ops->weights_changed();
    CAPTURE(step);
    CHECK(sums.kept_loss() == doctest::Approx(losses[step]).epsilon(1e-4));
    CHECK(norm == doctest::Approx(norms[step]).epsilon(1e-3));
  }
  for (const auto& [name, distance] : golden.distances("final", model, Golden::Which::weights)) {
    CAPTURE(name);
    // Softmax does not see a constant added to all scores, so the gradient of most key biases is nothing but
    // rounding, which Adam makes as large as any other.
    const bool has_key_bias = name.ends_with("query_key_value.bias");
    CHECK(distance < (has_key_bias ? 0.05 : 1e-4));
  }
}
