// Our models against PyTorch's and transformers' (tests/golden/make_golden.py).
#include <doctest/doctest.h>

#include <algorithm>

#include "model/golden.h"

using namespace shoal;

namespace {

struct Result {
  double logits, loss, dropped;
  std::map<std::string, double> gradients;
};

// Distances of one forward and backward from the golden file.
Result run(const Golden& golden, DType compute) {
  const auto device = make_device("cpu");
  const auto ops = make_ops(*device);
  Context context = make_local_context(*device, *ops, compute, 1);
  Decoder model(golden.config(), context, {.z_loss = golden.z_loss(), .loss_chunk = 19});
  model.materialize();
  golden.load("weight", model, context);

  const auto tokens = golden.ints("tokens"), targets = golden.ints("targets");
  const auto keep = golden.floats("keep");
  const Batch batch{2, int64_t(tokens.size()) / 2, tokens.data(), targets.data(), keep.data()};
  const Tensor logits = model.logits(tokens.data(), batch.rows, batch.seq_length);
  const auto* values = logits.view().as<float>();

  int64_t kept = 0;
  for (size_t i = 0; i < targets.size(); ++i) kept += targets[i] >= 0 && keep[i] != 0;
  const LossSums sums = model.train(batch, double(kept));
  CHECK(sums.kept_tokens == kept);
  const double loss = (sums.kept + golden.z_loss() * sums.z) / double(kept);
  return {distance({values, values + logits.numel()}, golden.floats("logits")),
          std::abs(loss - golden.number("loss")) / golden.number("loss"),
          std::abs(sums.dropped_loss() - golden.number("dropped_loss")),
          golden.distances("grad", model, Golden::Which::gradients)};
}

const std::string files[] = {"neox_parallel",        "neox_parallel_tied", "neox_sequential",
                             "neox_sequential_tied", "llama_grouped",      "llama_tied_bias",
                             "gemma_like_masked"};

}  // namespace

TEST_CASE("f32 logits, loss and every gradient are PyTorch's to 1e-5") {
  for (const std::string& file : files) {
    CAPTURE(file);
    const Result result = run(Golden(file), DType::f32);
    CHECK(result.logits < 1e-5);
    CHECK(result.loss < 1e-5);
    CHECK(result.dropped < 1e-5 * 10);
    for (const auto& [name, distance] : result.gradients) {
      CAPTURE(name);
      CHECK(distance < 1e-5);
    }
  }
}

// bf16 keeps 8 bits: one rounding is 2^-9 at most, and a gradient here is the end of a chain of some twenty
// of them.
TEST_CASE("bf16 logits and gradients are PyTorch's within the rounding of bf16") {
  for (const std::string& file : files) {
    CAPTURE(file);
    const Result result = run(Golden(file), DType::bf16);
    CHECK(result.logits < 0.02);
    CHECK(result.loss < 0.01);
    for (const auto& [name, distance] : result.gradients) {
      CAPTURE(name);
      CHECK(distance < 0.05);
    }
  }
}
