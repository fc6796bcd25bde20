#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "base/error.h"
#include "comm/traffic.h"
#include "model/hf_names.h"
#include "model/init_rules.h"
#include "model/tiny.h"

using namespace shoal;

namespace {

float element(const View& box, int64_t i) {
  int64_t at = 0;
  for (int d = box.rank() - 1; d >= 0; --d) {
    at += i % box.dim(d) * box.stride(d);
    i /= box.dim(d);
  }
  return box.as<float>()[at];
}

}  // namespace

TEST_CASE("initial weights belong to the global element, on any grid") {
  const auto device = make_device("cpu");
  const auto ops = make_ops(*device);
  Context context = make_local_context(*device, *ops, DType::f32, 9);
  Decoder whole(tiny_neox(), context, {});
  whole.materialize();

  context.grid.size = {2, 3, 2, 4};
  for (size_t axis = 0; axis < num_axes; ++axis) {
    context.along[axis] = make_counting_communicator(0, context.grid.size[axis]);
  }
  for (const bool shard_optimizer : {false, true}) {
    context.parallel.shard_optimizer = shard_optimizer;
    std::map<std::string, int64_t> owned;
    for (int rank = 0; rank < context.grid.ranks(); ++rank) {
      context.at = coordinates_of(context.grid, rank);
      Decoder part(tiny_neox(), context, {});
      part.materialize();
      for (const Parameter& parameter : part.parameters().all()) {
        CAPTURE(parameter.spec.name);
        REQUIRE(parameter.master.numel() == parameter.owned.count);
        REQUIRE(parameter.compute.numel() == parameter.shard.count);
        owned[parameter.spec.name] += parameter.owned.count;
        const Tensor& expected = whole.parameters().find(parameter.spec.name)->master;
        const auto* values = parameter.master.view().as<float>();
        bool equal = true;
        for (const Slab& slab : slabs_of(parameter.slab, parameter.owned)) {
          View box = expected;
          for (int d = 0; d < box.rank(); ++d) box = box.slice(d, slab.offset[d], slab.shape[d]);
          for (int64_t i = 0; i < box.numel(); ++i) equal = equal && element(box, i) == *values++;
        }
        CHECK(equal);
      }
    }
    for (const Parameter& p : whole.parameters().all()) {
      CAPTURE(p.spec.name);
      const bool matrix = p.spec.shard.z_flat;
      const int64_t copies = matrix ? (shard_optimizer ? 1 : 4) : 8 * (p.spec.shard.x_dim < 0 ? 2 : 3);
      CHECK(owned[p.spec.name] == copies * p.spec.shape.numel());
    }
  }
}

TEST_CASE("the standard deviations of the init rules") {
  ModelConfig c = tiny_neox();
  c.hidden_size = 512, c.num_layers = 6, c.init_std = 0.03;
  const auto deviation = [&](const std::string& name, bool output, int64_t layer = 0) {
    (output ? c.output_init : c.init) = name;
    return (output ? output_init(c, layer) : input_init(c)).value;
  };
  // Pythia-70m's, as published.
  CHECK(deviation("small_init", false) == doctest::Approx(0.027951).epsilon(1e-4));
  CHECK(deviation("wang_init", true) == doctest::Approx(0.014731).epsilon(1e-4));
  CHECK(deviation("normal", true) == 0.03);
  CHECK(deviation("scaled_normal", true) == doctest::Approx(0.03 / std::sqrt(12.0)));
  CHECK(deviation("mitchell", false) == doctest::Approx(1 / std::sqrt(512.0)));
  CHECK(deviation("mitchell", true, 3) == doctest::Approx(1 / std::sqrt(512.0) / std::sqrt(8.0)));
  CHECK(deviation("takase", true) == doctest::Approx(std::sqrt(2.0 / (5 * 512)) / std::sqrt(12.0)));
  CHECK(output_init(c, 0).truncate == 3);
  CHECK_THROWS_AS(deviation("small_int", false), UserError);
}

TEST_CASE("decay is for matrices and embeddings only") {
  const auto device = make_device("cpu");
  const auto ops = make_ops(*device);
  Context context = make_local_context(*device, *ops, DType::bf16, 9);
  Decoder model(tiny_neox(), context, {});
  model.materialize();
  for (const Parameter& p : model.parameters().all()) {
    CAPTURE(p.spec.name);
    const bool vector = p.spec.name.find("norm") != std::string::npos || p.spec.name.ends_with(".bias");
    CHECK(p.spec.decay == !vector);
    // An embedding that is not the head as well is read in f32.
    CHECK(p.compute.dtype() == (vector || p.spec.name == "embedding.weight" ? DType::f32 : DType::bf16));
  }
}

TEST_CASE("every element of every parameter is in exactly one Hugging Face tensor") {
  for (const ModelConfig& config : {tiny_neox(), tiny_llama()}) {
    const auto device = make_device("cpu");
    const auto ops = make_ops(*device);
    Context context = make_local_context(*device, *ops, DType::f32, 9);
    Decoder model(config, context, {});
    std::map<std::string, int64_t> covered;
    int64_t total = 0;
    for (const HfTensor& tensor : hf_tensors(config)) {
      const Parameter* parameter = model.parameters().find(tensor.parameter);
      REQUIRE(parameter != nullptr);
      for (int d = 0; d < tensor.slab.shape.rank(); ++d) {
        CHECK(tensor.slab.offset[d] + tensor.slab.shape[d] <= parameter->spec.shape[d]);
      }
      covered[tensor.parameter] += tensor.slab.shape.numel();
      total += tensor.slab.shape.numel();
    }
    for (const Parameter& parameter : model.parameters().all()) {
      CHECK(covered[parameter.spec.name] == parameter.spec.shape.numel());
    }
    CHECK(total == model.parameters().count());
  }
}

TEST_CASE("a model without a Hugging Face form says so") {
  ModelConfig config = tiny_neox();
  config.num_kv_heads = 1;
  CHECK_THROWS_AS(hf_tensors(config), UserError);
  config = tiny_llama();
  config.parallel_residual = true;
  CHECK_THROWS_AS(hf_tensors(config), UserError);
}
