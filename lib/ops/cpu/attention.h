// Causal softmax attention of the CPU backend, in blocks that stay in the caches (Dao et al. 2022): the
// forward pass keeps a running maximum and sum a row, the backward pass recomputes the probabilities from the
// saved lse.
#pragma once

#include "device/device.h"
#include "ops/ops.h"

namespace shoal::cpu {

// Shapes, types and layouts as the argument structs in ops/ops.h state; f32 or bf16, any strides whose last
// is 1. The outputs must not overlap the inputs. Scratch memory comes from the device. The results do not
// depend on the number of threads. Products of bf16 operands are summed in f32; probabilities and their
// gradients are rounded to bf16 for them where the processor multiplies bf16 (AVX512-BF16), and stay f32
// elsewhere.
void attention(Device& device, const AttentionArgs& args);
void attention_grad(Device& device, const AttentionGradArgs& args);

}  // namespace shoal::cpu
