#include "ops/measure/measure.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace shoal {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Tensor filled(Ops& ops, DType dtype, const Shape& shape) {
  Tensor tensor(ops.device(), dtype, shape);
  ops.fill(tensor, 0.5f);
  return tensor;
}

}  // namespace

double least_time(Ops& ops, double seconds, const std::function<void()>& call) {
  call();  // what is made once: pages, primitives
  ops.device().synchronize();
  double least = std::numeric_limits<double>::infinity();
  const double start = now();
  for (int i = 0; i < 3 || now() - start < seconds; ++i) {
    const double begin = now();
    call();
    ops.device().synchronize();
    least = std::min(least, now() - begin);
  }
  return least;
}

double measure_product(Ops& ops, DType dtype, const Product& product, double seconds) {
  const int64_t m = product.m, n = product.n, k = product.k;
  const bool weight_grad = product.pass == Product::Pass::weight_grad;
  const bool forward = product.pass == Product::Pass::forward;
  // The logits and the weights' gradients are f32.
  const bool single = weight_grad || (forward && product.name == "head");
  const Tensor a = filled(ops, dtype, weight_grad ? Shape{k, m} : Shape{m, k});
  const Tensor b = filled(ops, dtype, forward ? Shape{n, k} : Shape{k, n});
  const Tensor c = filled(ops, single ? DType::f32 : dtype, {m, n});
  MatmulArgs args{.a = a, .b = b, .c = c, .transpose_a = weight_grad, .transpose_b = forward};
  args.accumulate = weight_grad;
  args.b_is_weight = !weight_grad;
  ops.weights_changed();
  const double time = least_time(ops, seconds, [&] { ops.matmul(args); });
  ops.weights_changed();
  return time;
}

double measure_peak_gflops(Ops& ops, DType dtype) {
  const Product product{"peak", Product::Pass::forward, 2048, 2048, 1024, 1};
  return product.flops() / measure_product(ops, dtype, product, 0.2) * 1e-9;
}

double measure_copy(Ops& ops, int64_t bytes, double seconds) {
  const int64_t count = std::max(bytes / 8, int64_t{1});
  const Tensor from = filled(ops, DType::f32, {count}), to = filled(ops, DType::f32, {count});
  return 8.0 * double(count) / least_time(ops, seconds, [&] { ops.cast(from, to); });
}

}  // namespace shoal
