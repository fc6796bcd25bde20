// A decoder-only language model of the gpt-neox or the llama family (Black et al. 2022; Touvron et al. 2023),
// with the switches of Gemma that the Gemstones use. ModelConfig says which of them.
//
//   Decoder model(config, context, {});
//   model.parameters().materialize(...)           initial weights
//   model.parameters().clear_grads()              before the first micro-batch of a step
//   sums += model.train(batch, divisor)           for each micro-batch; gradients add up
//   model.finish_gradients()                      after the last one
//   ... the optimizer updates parameters() ...
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "layers/context.h"
#include "layers/loss.h"
#include "layers/parameter.h"
#include "model/config.h"

namespace shoal {

// A micro-batch in host memory, B rows of T. A negative target is ignored; a target of weight 0 is dropped:
// it is counted in the sums, and gives no gradient (goldfish loss).
struct Batch {
  int64_t rows = 0, seq_length = 0;
  const int32_t* tokens = nullptr;   // [B, T]
  const int32_t* targets = nullptr;  // [B, T]
  const float* weights = nullptr;    // [B, T], 1 or 0; null: all 1
};

struct DecoderOptions {
  bool recompute =
      false;          // keep only each layer's input and run its forward again in backward; the same bits
  double z_loss = 0;  // adds z_loss * (log of the softmax denominator)^2 to each kept target's loss
  int64_t loss_chunk = 0;  // rows of logits held at a time; 0: chosen by size
};

// Keys and values of the tokens seen so far, for B rows that advance together.
class KeyValueCache {
 public:
  KeyValueCache(const ModelConfig& config, Context& context, int64_t rows, int64_t capacity);
  int64_t rows() const { return rows_; }
  int64_t capacity() const { return capacity_; }
  int64_t length() const { return length_; }
  void clear() { length_ = 0; }

 private:
  friend class Decoder;
  int64_t rows_, capacity_, length_ = 0;
  std::vector<Tensor> keys_, values_;  // a layer: [B, capacity, G, D] in the compute type
};

class Decoder {
 public:
  // Declares the parameters; they have no memory until materialize().
  Decoder(const ModelConfig& config, Context& context, const DecoderOptions& options);
  ~Decoder();

  const ModelConfig& config() const;
  ParameterRegistry& parameters();
  // Allocates the parameters and draws the initial weights.
  void materialize();

  // Forward and backward. Adds the gradient of
  //   sum over kept targets of (cross-entropy + z_loss * lse^2) / divisor
  // to the parameters' gradients; divisor is the number of kept targets in the whole global batch.
  // Ranks that differ in x or y only are given the same batch, and all return its sums.
  LossSums train(const Batch& batch, double divisor);
  // After the last micro-batch of a step: the gradients then lack the sum over data, and nothing else.
  void finish_gradients();
  // Forward only; nothing of the size of all logits is held.
  LossSums evaluate(const Batch& batch);
  // The cross-entropy of every target, [B * T] in order; 0 where the target is ignored.
  LossSums evaluate(const Batch& batch, std::vector<float>& token_losses);

  // The two below throw UserError where x, y or z cut the model.
  // All logits of a batch, [B, T, V] f32: B * T * V floats of memory.
  Tensor logits(const int32_t* tokens, int64_t rows, int64_t seq_length);
  // Appends T tokens a row to the cache and returns the logits of the last of them, [B, V] f32 in device
  // memory. Prefill is a long step, decoding a step of one token. length() + T must not exceed capacity().
  Tensor step(const int32_t* tokens, int64_t seq_length, KeyValueCache& cache);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal
