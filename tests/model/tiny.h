// Small models for tests.
#pragma once

#include <memory>
#include <vector>

#include "base/philox.h"
#include "model/decoder.h"

namespace shoal {

inline ModelConfig tiny_neox() {
  ModelConfig c;
  c.family = "gpt-neox";
  c.hidden_size = 48, c.num_layers = 3, c.num_heads = c.num_kv_heads = 3, c.head_dim = 16;
  c.intermediate_size = 192, c.vocab_size = 101;
  c.activation = Activation::gelu_tanh;
  c.parallel_residual = true;
  c.rotary_dims = 4;
  c.attention_bias = c.mlp_bias = c.norm_bias = true;
  c.init = "small_init", c.output_init = "wang_init";
  return c;
}

inline ModelConfig tiny_llama() {
  ModelConfig c;
  c.family = "llama";
  c.hidden_size = 40, c.num_layers = 3, c.num_heads = 6, c.num_kv_heads = 2, c.head_dim = 8;
  c.intermediate_size = 88, c.vocab_size = 101;
  c.rmsnorm = true;
  c.activation = Activation::silu;
  c.gated = true;
  c.rotary_dims = 8;
  c.tie_embeddings = true;
  c.init = "normal", c.output_init = "scaled_normal";
  c.init_std = 0.1;
  return c;
}

// A device, its operations, a context and a model that live together.
struct TestModel {
  TestModel(const ModelConfig& config, DType compute, const DecoderOptions& options = {}, uint64_t seed = 1)
      : device(make_device("cpu")),
        ops(make_ops(*device)),
        context(make_local_context(*device, *ops, compute, seed)),
        model(config, context, options) {
    model.materialize();
  }
  std::vector<float> values(const Tensor& tensor) const {
    std::vector<float> host(static_cast<size_t>(tensor.numel()));
    device->to_host(host.data(), tensor.view().data, tensor.view().bytes());
    return host;
  }
  std::vector<std::vector<float>> gradients() {
    std::vector<std::vector<float>> all;
    for (const Parameter& p : model.parameters().all()) all.push_back(values(p.grad));
    return all;
  }

  std::unique_ptr<Device> device;
  std::unique_ptr<Ops> ops;
  Context context;
  Decoder model;
};

// Random tokens and targets, every fifth target dropped.
struct TestBatch {
  TestBatch(int64_t B, int64_t T, int64_t vocab, uint64_t seed = 3) : rows(B), length(T) {
    const Philox random(seed, "batch");
    for (int64_t i = 0; i < B * T; ++i) {
      const auto n = static_cast<uint64_t>(i);
      tokens.push_back(static_cast<int32_t>(random.bits(2 * n) % static_cast<uint64_t>(vocab)));
      targets.push_back(static_cast<int32_t>(random.bits(2 * n + 1) % static_cast<uint64_t>(vocab)));
      weights.push_back(i % 5 == 4 ? 0.0f : 1.0f);
    }
  }
  Batch rows_from(int64_t begin, int64_t count) const {
    const int64_t at = begin * length;
    return {count, length, tokens.data() + at, targets.data() + at, weights.data() + at};
  }
  Batch all() const { return rows_from(0, rows); }

  int64_t rows, length;
  std::vector<int32_t> tokens, targets;
  std::vector<float> weights;
};

}  // namespace shoal
