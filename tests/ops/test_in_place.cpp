// Outputs that may lie in an input's memory.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "base/philox.h"
#include "ops/ops.h"

using namespace shoal;

TEST_CASE("softmax_grad may write each row where that row of the logits began, in both types") {
  const auto device = make_device("cpu");
  const auto ops = make_ops(*device);
  const Philox random(1, "logits");
  for (DType type : {DType::f32, DType::bf16}) {
    for (int64_t V : {1, 7, 31, 64, 1000, 5003}) {
      constexpr int64_t M = 3;
      Tensor logits(*device, DType::f32, {M, V}), apart(*device, type, {M, V});
      std::vector<float> lse{3, 4, 5}, weight{0.5f, 0, 2};
      std::vector<int32_t> targets{0, 0, int32_t(V - 1)};
      for (int64_t i = 0; i < M * V; ++i) logits.view().as<float>()[i] = float(random.normal(uint64_t(i)));
      SoftmaxGradArgs args{.logits = logits,
                           .targets = View(targets.data(), DType::i32, {M}),
                           .lse = View(lse.data(), DType::f32, {M}),
                           .weight = View(weight.data(), DType::f32, {M}),
                           .z_weight = {},
                           .dlogits = apart};
      ops->softmax_grad(args);
      const int64_t stride = V * size_of(DType::f32) / size_of(type);
      args.dlogits = View(logits.view().data, type, {M, V}, {stride, 1});
      ops->softmax_grad(args);
      const auto bytes = static_cast<size_t>(V * size_of(type));
      for (int64_t i = 0; i < M; ++i) {
        CHECK(std::memcmp(args.dlogits.slice(0, i, 1).data, apart.view().slice(0, i, 1).data, bytes) == 0);
      }
    }
  }
}
