// Twenty steps of training on the emulated GPU are twenty steps on the CPU.
#include <doctest/doctest.h>

#include "device/gpu/gpu_device.h"
#include "model/tiny.h"
#include "ops/gpu/gpu_ops.h"
#include "optim/optimizer.h"

namespace shoal {
namespace {

// The loss before each of the steps.
std::vector<double> train(Device& device, Ops& ops, const ModelConfig& config, DType compute, int steps) {
  Context context = make_local_context(device, ops, compute, 1);
  Decoder model(config, context, {});
  model.materialize();
  OptimizerSection section;
  const auto optimizer = make_optimizer(section, model.parameters(), context);
  const TestBatch batch(2, 9, config.vocab_size);
  std::vector<double> losses;
  for (int step = 1; step <= steps; ++step) {
    model.parameters().clear_grads();
    losses.push_back(model.train(batch.all(), 15.0).kept_loss());
    model.finish_gradients();
    optimizer->apply(step, 1e-3, 1.0);
    ops.weights_changed();
  }
  return losses;
}

void compare(ModelConfig config, DType compute, double tolerance) {
  config.num_layers = 1;  // the emulator takes microseconds for an element
  const auto cpu = make_device("cpu");
  GpuDevice gpu;
  const auto expected = train(*cpu, *make_ops(*cpu), config, compute, 20);
  const auto got = train(gpu, *make_gpu_ops(gpu), config, compute, 20);
  CHECK(expected.back() < 0.95 * expected.front());
  for (size_t i = 0; i < expected.size(); ++i)
    CHECK(got[i] == doctest::Approx(expected[i]).epsilon(tolerance));
}

}  // namespace

TEST_CASE("twenty steps of GPT-NeoX are those of the CPU") {
  compare(tiny_neox(), DType::f32, 1e-5);
  compare(tiny_neox(), DType::bf16, 5e-3);
}

TEST_CASE("twenty steps of Llama are those of the CPU") {
  compare(tiny_llama(), DType::f32, 1e-5);
  compare(tiny_llama(), DType::bf16, 5e-3);
}

}  // namespace shoal
