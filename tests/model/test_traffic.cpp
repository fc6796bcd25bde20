// What a pass sends, against the volumes that AxoNN publishes for its parallel matrix product (Singh et al.
// 2024, arXiv 2502.08145, equations 1 to 5). For O [m, n] = I [m, k] W [k, n] a rank sends
//
//   AG_z (Gz - 1) k n / (Gx Gy Gz)      RS_z (Gz - 1) / Gz k n / (Gx Gy)
//   AR_y 2 (Gy - 1) / Gy m n / (Gz Gx)  AR_x 2 (Gx - 1) / Gx m k / (Gz Gy)
//
// elements, x and y swapped in every second layer; m is the rows of a data group.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "comm/traffic.h"
#include "model/grid_check.h"
#include "model/tiny.h"

using namespace shoal;

namespace {

// Sizes that every grid below divides.
ModelConfig even(ModelConfig config) {
  config.hidden_size = 48, config.num_layers = 2, config.num_heads = config.num_kv_heads = 8;
  config.head_dim = 8, config.rotary_dims = 4, config.intermediate_size = 96, config.vocab_size = 120;
  config.tie_embeddings = false;
  return config;
}

ModelConfig even_grouped() {
  ModelConfig config = even(tiny_llama());
  config.num_heads = 16;
  return config;
}

struct Product {
  std::string name;
  double k, n;
  bool swapped;  // y cuts the outputs
};

std::vector<Product> products(const ModelConfig& c) {
  const auto H = double(c.hidden_size), F = double(c.intermediate_size);
  const auto queries = double(c.num_heads * c.head_dim), keys = double(c.num_kv_heads * c.head_dim);
  std::vector<Product> all;
  for (int64_t layer = 0; layer < c.num_layers; ++layer) {
    const std::string name = fmt::format("layers.{}.", layer);
    all.push_back({name + "attention.qkv", H, queries + 2 * keys, false});
    all.push_back({name + "attention.output", queries, H, true});
    all.push_back({name + "mlp.up", H, c.gated ? 2 * F : F, false});
    all.push_back({name + "mlp.down", F, H, true});
  }
  all.push_back({"head", H, double(c.vocab_size), false});
  return all;
}

// One pass of a rank whose neighbours are only counted.
struct CountedPass {
  CountedPass(const ModelConfig& config, const Grid& grid, DType compute, const TestBatch& batch,
              const DecoderOptions& options = {}, const ParallelOptions& parallel = {})
      : device(make_device("cpu")), ops(make_ops(*device)) {
    Context context = make_local_context(*device, *ops, compute, 1);
    context.grid = grid, context.at = coordinates_of(grid, grid.ranks() - 1);
    context.parallel = parallel;
    for (size_t axis = 0; axis < num_axes; ++axis) {
      if (grid.size[axis] == 1) continue;
      context.along[axis] =
          make_traced_communicator(make_counting_communicator(context.at.at[axis], grid.size[axis]), traffic);
    }
    Decoder model(config, context, options);
    model.materialize();
    traffic.clear();
    // The second pass knows the order of the first.
    for (int pass = 0; pass < 2; ++pass) model.train(batch.all(), 1);
  }
  double bytes(const std::string& label) const {
    const auto entries = traffic.entries();
    const auto found = entries.find(label);
    return found == entries.end() ? 0 : found->second.ring_bytes / 2;
  }
  std::unique_ptr<Device> device;
  std::unique_ptr<Ops> ops;
  Traffic traffic;
};

const Grid grids[] = {{{1, 1, 4, 1}}, {{1, 1, 8, 3}}, {{4, 1, 1, 1}}, {{8, 1, 1, 2}}, {{1, 4, 1, 1}},
                      {{2, 2, 1, 1}}, {{2, 1, 3, 1}}, {{2, 2, 2, 1}}, {{2, 4, 3, 2}}, {{4, 2, 2, 2}}};

}  // namespace

TEST_CASE("each product sends what the published equations say") {
  for (const ModelConfig& config : {even(tiny_neox()), even_grouped()}) {
    const TestBatch batch(4, 8, config.vocab_size);
    for (const Grid& grid : grids) {
      for (const DType compute : {DType::f32, DType::bf16}) {
        CAPTURE(config.family);
        CAPTURE(to_string(grid));
        const CountedPass pass(config, grid, compute, batch);
        const double x = grid[Axis::x], y = grid[Axis::y], z = grid[Axis::z];
        const double rows = double(batch.rows * batch.length);  // m / Gz
        const auto width = double(size_of(compute));
        for (const Product& p : products(config)) {
          CAPTURE(p.name);
          const double out = p.swapped ? y : x, in = p.swapped ? x : y;
          const std::string over_out = p.swapped ? "AR_y " : "AR_x ", over_in = p.swapped ? "AR_x " : "AR_y ";
          CHECK(pass.bytes("AG_z " + p.name + ".weight") ==
                doctest::Approx(width * (z - 1) * p.k * p.n / (x * y * z)));
          CHECK(pass.bytes("RS_z " + p.name + ".weight") ==
                doctest::Approx(4 * (z - 1) / z * p.k * p.n / (x * y)));
          CHECK(pass.bytes(over_out + p.name) ==
                doctest::Approx(width * 2 * (out - 1) / out * rows * p.k / in));
          // Partial logits are summed in f32.
          const double widths = p.name == "head" ? 4 + width : 2 * width;
          CHECK(pass.bytes(over_in + p.name) == doctest::Approx(widths * (in - 1) / in * rows * p.n / out));
        }
      }
    }
  }
}

TEST_CASE("weights kept for backward are gathered once, otherwise twice under another label") {
  const ModelConfig config = even(tiny_neox());
  const TestBatch batch(4, 8, config.vocab_size);
  const Grid grid{{2, 1, 4, 1}};
  for (const int prefetch : {0, 1, 3}) {
    const CountedPass kept(config, grid, DType::bf16, batch, {}, {.prefetch = prefetch, .regather = false});
    const CountedPass again(config, grid, DType::bf16, batch, {}, {.prefetch = prefetch});
    for (const Product& p : products(config)) {
      if (p.name == "head") continue;  // its forward and backward are one
      CAPTURE(p.name);
      const std::string label = "AG_z " + p.name + ".weight";
      CHECK(kept.bytes("again_" + label) == 0);
      CHECK(again.bytes(label) == kept.bytes(label));
      const std::string last = fmt::format("layers.{}.mlp.down", config.num_layers - 1);
      // What the end of forward has in hand, backward need not gather.
      if (p.name == last) continue;
      CHECK(again.bytes("again_" + label) == kept.bytes(label));
    }
  }
}

TEST_CASE("what is sent beside the published volumes has labels of its own") {
  const ModelConfig config = even_grouped();
  const TestBatch batch(2, 8, config.vocab_size);
  const CountedPass pass(config, {{2, 4, 2, 1}}, DType::f32, batch, {.recompute = true});
  for (const auto& [label, entry] : pass.traffic.entries()) {
    CAPTURE(label);
    const bool again = label.starts_with("again_AR_x ") || label.starts_with("again_AR_y ") ||
                       label.starts_with("again_AG_z ");
    const bool product = label.starts_with("AG_z ") || label.starts_with("RS_z ") ||
                         label.starts_with("AR_x ") || label.starts_with("AR_y ");
    const bool small =
        label == "AG_x softmax statistics" || label.starts_with("AG_y layers.") || label == "AG_y final_norm";
    const bool exchange = label.starts_with("A2A_y layers.");
    CHECK((again || product || small || exchange));
  }
}
