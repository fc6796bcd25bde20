#include "ops/measure/shapes.h"

namespace shoal {

StepShape pythia_70m_step() {
  return {.name = "pythia-70m",
          .layers = 6,
          .hidden = 512,
          .intermediate = 2048,
          .heads = 8,
          .vocab = 50304,
          .batch = 4,
          .sequence = 512,
          .head_rows = 512};
}

StepShape gpt_25m_step() {
  return {.name = "gpt-25m",
          .layers = 8,
          .hidden = 512,
          .intermediate = 2048,
          .heads = 8,
          .vocab = 8192,
          .batch = 8,
          .sequence = 512,
          .head_rows = 2048};
}

std::vector<Product> products_of(const StepShape& shape) {
  std::vector<Product> products;
  const auto add = [&](const std::string& name, int64_t rows, int64_t in, int64_t out, double count) {
    products.push_back({name, Product::Pass::forward, rows, out, in, count});
    products.push_back({name, Product::Pass::input_grad, rows, in, out, count});
    products.push_back({name, Product::Pass::weight_grad, out, in, rows, count});
  };
  const int64_t rows = shape.rows(), hidden = shape.hidden;
  const auto layers = double(shape.layers);
  add("qkv", rows, hidden, 3 * hidden, layers);
  add("output", rows, hidden, hidden, layers);
  add("up", rows, hidden, shape.intermediate, layers);
  add("down", rows, shape.intermediate, hidden, layers);
  add("head", shape.head_rows, hidden, shape.vocab, double(rows) / double(shape.head_rows));
  return products;
}

}  // namespace shoal
