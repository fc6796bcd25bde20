#include "ops/cpu/activations.h"
#include "ops/cpu/kernels.h"
#include "ops/cpu/loops.h"

namespace shoal::cpu {
namespace {

constexpr int64_t strip_columns = 512;  // a strip's column sums stay in the first-level cache

template <typename Act, typename T, bool with_bias>
void value_row(const T* x, const float* bias, T* y, int64_t columns) {
#pragma omp simd
  for (int64_t j = 0; j < columns; ++j) store(y + j, Act::value(load(x[j]) + (with_bias ? bias[j] : 0.0f)));
}

template <typename Act, typename T, bool with_bias>
void slope_row(const T* x, const float* bias, const T* dy, T* dx, float* sums, int64_t columns) {
#pragma omp simd
  for (int64_t j = 0; j < columns; ++j) {
    const float gradient = load(dy[j]) * Act::both(load(x[j]) + (with_bias ? bias[j] : 0.0f)).slope;
    store(dx + j, gradient);
    sums[j] += gradient;
  }
}

template <typename Act, typename T>
void activation_kernel(const ActivationArgs& args) {
  const int64_t rows = args.x.dim(0), columns = args.x.dim(1);
  const float* const bias = args.bias.defined() ? args.bias.as<float>() : nullptr;
  parallel_for(rows, rows * columns, [&](int64_t i) {
    const auto kernel = bias ? value_row<Act, T, true> : value_row<Act, T, false>;
    kernel(row<T>(args.x, i), bias, row<T>(args.y, i), columns);
  });
}

template <typename Act, typename T>
void activation_grad_kernel(Device& device, const ActivationGradArgs& args) {
  const int64_t rows = args.x.dim(0), columns = args.x.dim(1);
  const float* const bias = args.bias.defined() ? args.bias.as<float>() : nullptr;
  const ColumnSums sums(device, rows, args.dbias.defined() ? columns : 0);
  const int64_t strips = (columns + strip_columns - 1) / strip_columns;
  parallel_for(sums.blocks() * strips, rows * columns, [&](int64_t task) {
    const int64_t block = task / strips, first = task % strips * strip_columns;
    const int64_t width = std::min(strip_columns, columns - first);
    const int64_t begin = block * ColumnSums::block_rows,
                  end = std::min(begin + ColumnSums::block_rows, rows);
    alignas(64) float strip[strip_columns] = {};
    for (int64_t i = begin; i < end; ++i) {
      const auto kernel = bias ? slope_row<Act, T, true> : slope_row<Act, T, false>;
      kernel(row<T>(args.x, i) + first, bias + (bias ? first : 0), row<T>(args.dy, i) + first,
             row<T>(args.dx, i) + first, strip, width);
    }
    if (args.dbias.defined()) std::copy_n(strip, width, sums.block(block) + first);
  });
  if (args.dbias.defined()) sums.add_to(args.dbias);
}

template <typename Act, typename T>
void glu_kernel(const GluArgs& args) {
  const int64_t rows = args.y.dim(0), columns = args.y.dim(1);
  parallel_for(rows, rows * columns, [&](int64_t i) {
    const T* const gate = row<T>(args.x, i);
    const T* const up = gate + args.x.stride(1);
    T* const y = row<T>(args.y, i);
#pragma omp simd
    for (int64_t j = 0; j < columns; ++j) store(y + j, Act::value(load(gate[j])) * load(up[j]));
  });
}

template <typename Act, typename T>
void glu_grad_kernel(const GluGradArgs& args) {
  const int64_t rows = args.dy.dim(0), columns = args.dy.dim(1);
  parallel_for(rows, rows * columns, [&](int64_t i) {
    const T* const gate = row<T>(args.x, i);
    const T* const up = gate + args.x.stride(1);
    const T* const dy = row<T>(args.dy, i);
    T* const dgate = row<T>(args.dx, i);
    T* const dup = dgate + args.dx.stride(1);
#pragma omp simd
    for (int64_t j = 0; j < columns; ++j) {
      const float gradient = load(dy[j]);
      const ValueAndSlope act = Act::both(load(gate[j]));
      const float to_gate = gradient * load(up[j]) * act.slope;
      store(dup + j, gradient * act.value);
      store(dgate + j, to_gate);
    }
  });
}

}  // namespace

void activation(const ActivationArgs& args) {
  with_activation(args.kind, [&](auto act) {
    with_type(args.x.dtype, [&](auto x) { activation_kernel<decltype(act), decltype(x)>(args); });
  });
}

void activation_grad(Device& device, const ActivationGradArgs& args) {
  with_activation(args.kind, [&](auto act) {
    with_type(args.x.dtype,
              [&](auto x) { activation_grad_kernel<decltype(act), decltype(x)>(device, args); });
  });
}

void glu(const GluArgs& args) {
  with_activation(args.kind, [&](auto act) {
    with_type(args.x.dtype, [&](auto x) { glu_kernel<decltype(act), decltype(x)>(args); });
  });
}

void glu_grad(const GluGradArgs& args) {
  with_activation(args.kind, [&](auto act) {
    with_type(args.x.dtype, [&](auto x) { glu_grad_kernel<decltype(act), decltype(x)>(args); });
  });
}

}  // namespace shoal::cpu
