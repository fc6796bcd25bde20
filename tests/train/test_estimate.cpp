// What `shoal check` predicts against what a step takes.
#include <doctest/doctest.h>

#include <numeric>

#include "model/decoder.h"
#include "model/estimate.h"
#include "optim/optimizer.h"
#include "spec/load.h"

using namespace shoal;

namespace {

struct Measured {
  double peak_bytes = 0;
  double state_elements = 0;
  int64_t parameters = 0;
};

Measured run_step(const RunSpec& spec, const ModelConfig& config) {
  const auto device = make_device("cpu");
  const auto ops = make_ops(*device);
  Context context =
      make_local_context(*device, *ops, spec.precision.compute == "bf16" ? DType::bf16 : DType::f32, 1);
  Decoder model(config, context, {.recompute = spec.precision.recompute});
  model.materialize();
  const auto optimizer = make_optimizer(spec.optimizer, model.parameters(), context);
  model.parameters().clear_grads();
  std::vector<int32_t> tokens(size_t(spec.batch.micro * spec.data.seq_length));
  std::iota(tokens.begin(), tokens.end(), 0);
  for (int32_t& token : tokens) token %= int32_t(config.vocab_size);
  for (int64_t done = 0; done < spec.batch.global; done += spec.batch.micro) {
    model.train({spec.batch.micro, spec.data.seq_length, tokens.data(), tokens.data()},
                double(tokens.size()));
  }
  Measured measured{double(device->memory().peak), 0, model.parameters().count()};
  for (const OptimizerTensor& tensor : optimizer->state())
    measured.state_elements += double(tensor.value.numel());
  return measured;
}

RunSpec small_spec(const std::vector<std::string>& overrides) {
  return parse_spec(
             "model: {hidden_size: 256, num_layers: 3, num_attention_heads: 8, vocab_size: 2048}\n"
             "data: {seq_length: 512}\nbatch: {global: 4, micro: 4}\ncheckpoint: {background: false}\n",
             "small", overrides)
      .spec;
}

}  // namespace

TEST_CASE("the estimated memory is within a tenth of what a step takes") {
  const std::vector<std::vector<std::string>> runs = {
      {},
      {"batch.global=8"},
      {"precision.compute=bf16"},
      {"precision.recompute=true"},
      {"model.family=llama", "model.intermediate_size=512", "model.num_key_value_heads=2"},
      {"model.vocab_size=16384", "model.tie_embeddings=true"},
  };
  for (const auto& overrides : runs) {
    const RunSpec spec = small_spec(overrides);
    const ModelConfig config = resolve_model(spec.model, 0);
    const double estimate = estimate_memory(spec, config).total();
    const Measured measured = run_step(spec, config);
    CAPTURE(overrides.empty() ? "as it is" : overrides.front());
    CHECK(measured.parameters == config.parameter_count());
    CHECK(estimate == doctest::Approx(measured.peak_bytes).epsilon(0.1));
  }
}

TEST_CASE("the size of the optimizer's state is exact") {
  for (const char* name : {"adamw", "sgd", "muon", "jorge"}) {
    for (const char* graft : {"sgd", "adam"}) {
      RunSpec spec = small_spec({"optimizer.jorge.block_size=100"});
      spec.batch.micro = spec.batch.global = 1;
      spec.data.seq_length = 8;
      spec.optimizer.name = name;
      spec.optimizer.jorge.graft = graft;
      const ModelConfig config = resolve_model(spec.model, 0);
      CAPTURE(name);
      CHECK(optimizer_elements(spec.optimizer, config) == run_step(spec, config).state_elements);
    }
  }
}
