#include "model/decoder.h"

#include <fmt/format.h>

#include <deque>

#include "base/error.h"
#include "layers/block.h"
#include "layers/embedding.h"
#include "layers/gradients.h"
#include "layers/weights.h"
#include "model/init_rules.h"

namespace shoal {
namespace {

Norm::Spec norm_spec(const ModelConfig& config, std::string name) {
  return {.name = std::move(name),
          .size = config.hidden_size,
          .rms = config.rmsnorm,
          .bias = config.norm_bias,
          .unit_offset = config.norm_unit_offset,
          .eps = config.norm_eps};
}

Block make_block(ParameterRegistry& registry, const ModelConfig& config, int64_t layer) {
  const std::string name = fmt::format("layers.{}.", layer);
  const InitRule in = input_init(config), out = output_init(config, layer);
  return Block(registry,
               {.name = name + "attention",
                .hidden_size = config.hidden_size,
                .num_heads = config.num_heads,
                .num_kv_heads = config.num_kv_heads,
                .head_dim = config.head_dim,
                .bias = config.attention_bias,
                .rotary_dims = config.rotary_dims,
                .rotary_base = config.rotary_base,
                .rotary_interleaved = config.rotary_interleaved,
                .init = in,
                .output_init = out},
               {.name = name + "mlp",
                .hidden_size = config.hidden_size,
                .intermediate_size = config.intermediate_size,
                .activation = config.activation,
                .gated = config.gated,
                .bias = config.mlp_bias,
                .init = in,
                .output_init = out},
               norm_spec(config, name + "norm1"), norm_spec(config, name + "norm2"),
               config.parallel_residual);
}

}  // namespace

KeyValueCache::KeyValueCache(const ModelConfig& config, Context& context, int64_t rows, int64_t capacity)
    : rows_(rows), capacity_(capacity) {
  const Shape shape{rows, capacity, config.num_kv_heads, config.head_dim};
  for (int64_t layer = 0; layer < config.num_layers; ++layer) {
    keys_.emplace_back(context.device, context.compute, shape);
    values_.emplace_back(context.device, context.compute, shape);
  }
}

struct Decoder::Impl {
  Impl(const ModelConfig& c, Context& ctx, const DecoderOptions& o)
      : config(c),
        context(ctx),
        options(o),
        table(add_vocabulary_matrix(registry, "embedding.weight", c.vocab_size, c.hidden_size, input_init(c),
                                    c.tie_embeddings)),
        embedding(registry, table, c.embedding_scale),
        blocks(make_blocks()),
        final_norm(registry, norm_spec(c, "final_norm")),
        head(registry,
             c.tie_embeddings ? table
                              : add_vocabulary_matrix(registry, "head.weight", c.vocab_size, c.hidden_size,
                                                      input_init(c), true),
             {o.z_loss, o.loss_chunk}) {
    if (c.tie_embeddings) table.spec.uses = 2;
  }

  std::deque<Block> make_blocks() {
    std::deque<Block> made;
    for (int64_t layer = 0; layer < config.num_layers; ++layer) {
      made.push_back(make_block(registry, config, layer));
    }
    return made;
  }

  // The final norm's output, [B * T / x rows, H / y].
  Var forward(Tape& tape, const int32_t* tokens, Positions positions, KeyValueCache* cache) {
    Tensor ids(context.device, DType::i32, {positions.rows * positions.length});
    context.device.to_device(ids.view().data, tokens, ids.view().bytes());
    Residual residual{embedding.forward(context, tape, ids), {}};
    for (size_t layer = 0; layer < blocks.size(); ++layer) {
      if (cache != nullptr) {
        positions.keys = cache->keys_[layer];
        positions.values = cache->values_[layer];
      }
      const bool again = options.recompute && tape.recording();
      residual = blocks[layer].forward(context, tape, residual, positions, again);
    }
    return add_norm(context, tape, residual, {&final_norm}).outs[0];
  }

  LossSums evaluate(const Batch& batch, float* token_losses) {
    registry.weights().begin(Pass::evaluate);
    Tape tape(false);
    const Var x = forward(tape, batch.tokens, {batch.rows, batch.seq_length}, nullptr);
    const LossSums sums = head.evaluate(context, x.value, {batch.targets, batch.weights}, token_losses);
    registry.weights().end();
    return sums;
  }

  void require_one_rank() const {
    const Grid& grid = context.grid;
    const int ranks = grid[Axis::x] * grid[Axis::y] * grid[Axis::z];
    if (ranks == 1) return;
    throw UserError({.what = "logits and generation need a model that is not split",
                     .where = "parallel",
                     .value = fmt::format("x {}, y {}, z {}", grid[Axis::x], grid[Axis::y], grid[Axis::z]),
                     .allowed = "x, y and z of 1",
                     .hint = "start the command on one rank: a checkpoint loads on any grid"});
  }

  const ModelConfig config;
  Context& context;
  const DecoderOptions options;
  ParameterRegistry registry;
  Parameter& table;
  Embedding embedding;
  std::deque<Block> blocks;
  Norm final_norm;
  LossHead head;
};

Decoder::Decoder(const ModelConfig& config, Context& context, const DecoderOptions& options)
    : impl_(std::make_unique<Impl>(config, context, options)) {}
Decoder::~Decoder() = default;

const ModelConfig& Decoder::config() const {
  return impl_->config;
}
ParameterRegistry& Decoder::parameters() {
  return impl_->registry;
}
void Decoder::materialize() {
  impl_->registry.materialize(impl_->context);
}

LossSums Decoder::train(const Batch& batch, double divisor) {
  impl_->registry.weights().begin(Pass::train);
  Tape tape;
  LossSums sums;
  {
    // Gone before backward, so that what it holds does not lie in the gradients' way.
    const Var x = impl_->forward(tape, batch.tokens, {batch.rows, batch.seq_length}, nullptr);
    sums = impl_->head.train(impl_->context, x, {batch.targets, batch.weights}, divisor);
  }
  tape.backward();
  impl_->registry.gradients().finish_pass();
  impl_->registry.weights().end();
  return sums;
}

void Decoder::finish_gradients() {
  std::vector<Parameter*> all;
  for (Parameter& p : impl_->registry.all()) all.push_back(&p);
  impl_->registry.gradients().finish_step(all);
}

LossSums Decoder::evaluate(const Batch& batch) {
  return impl_->evaluate(batch, nullptr);
}

LossSums Decoder::evaluate(const Batch& batch, std::vector<float>& token_losses) {
  token_losses.resize(static_cast<size_t>(batch.rows * batch.seq_length));
  return impl_->evaluate(batch, token_losses.data());
}

Tensor Decoder::logits(const int32_t* tokens, int64_t rows, int64_t seq_length) {
  impl_->require_one_rank();
  Tape tape(false);
  const Var x = impl_->forward(tape, tokens, {rows, seq_length}, nullptr);
  Tensor logits(impl_->context.device, DType::f32, {rows * seq_length, impl_->config.vocab_size});
  impl_->head.logits(impl_->context, x.value, logits);
  return logits.reshape({rows, seq_length, impl_->config.vocab_size});
}

Tensor Decoder::step(const int32_t* tokens, int64_t seq_length, KeyValueCache& cache) {
  impl_->require_one_rank();
  SHOAL_CHECK(cache.length_ + seq_length <= cache.capacity_);
  Tape tape(false);
  const Var x = impl_->forward(tape, tokens, {cache.rows_, seq_length, cache.length_}, &cache);
  cache.length_ += seq_length;
  // The last position of each row.
  const View all = x.value.view().reshape({cache.rows_, seq_length, impl_->config.hidden_size});
  const View last = all.slice(1, seq_length - 1, 1);
  const View rows(last.data, last.dtype, {cache.rows_, last.dim(2)}, {last.stride(0), 1});
  Tensor logits(impl_->context.device, DType::f32, {cache.rows_, impl_->config.vocab_size});
  impl_->head.logits(impl_->context, rows, logits);
  return logits;
}

}  // namespace shoal
