#include <cmath>

#include "ops/cpu/kernels.h"
#include "ops/cpu/loops.h"
#include "ops/cpu/norm_rows.h"
#include "ops/cpu/vector_math.h"

namespace shoal::cpu {
namespace {

template <typename T, bool centred>
void norm_kernel(Device& device, const NormArgs& args) {
  const int64_t rows = args.x.dim(0), columns = args.x.dim(1);
  const Affine affine(device, args.weight, args.bias, args.unit_offset);
  const float *const gain = affine.gain, *const shift = affine.shift;
  const Tensor scratch(device, DType::f32, {omp_get_max_threads(), columns});
  parallel_for(rows, rows * columns, [&](int64_t i) {
    float* const values = row<float>(scratch, omp_get_thread_num());
    const float total = read_row<T>(args, i, values);
    const float mean = centred ? total / float(columns) : 0.0f;
    const float squares = sum(columns, [=](int64_t j) { return (values[j] - mean) * (values[j] - mean); });
    const float rstd = 1.0f / std::sqrt(squares / float(columns) + args.eps);
    T* const y = row<T>(args.y, i);
#pragma omp simd
    for (int64_t j = 0; j < columns; ++j) store(y + j, (values[j] - mean) * rstd * gain[j] + shift[j]);
    if (args.mean.defined()) args.mean.as<float>()[i] = mean;
    if (args.rstd.defined()) args.rstd.as<float>()[i] = rstd;
  });
}

template <typename T, bool centred>
void norm_grad_kernel(Device& device, const NormGradArgs& args) {
  const Affine affine(device, args.weight, {}, args.unit_offset);
  with_column_sums(device, args, [&](int64_t i, float* dweight, float* dbias) {
    NormGradRow<T> kernel = norm_grad_row<T>(args, i, affine.gain);
    if (!centred) kernel.mean = 0.0f;
    auto [plain, projected] = kernel.sums(dweight, dbias);
    plain = centred ? plain / float(kernel.columns) : 0.0f;
    projected /= float(kernel.columns);
    args.accumulate_dx ? kernel.template apply<true>({plain, projected})
                       : kernel.template apply<false>({plain, projected});
  });
}

}  // namespace

void layernorm(Device& device, const NormArgs& args) {
  with_type(args.x.dtype, [&](auto x) { norm_kernel<decltype(x), true>(device, args); });
}
void layernorm_grad(Device& device, const NormGradArgs& args) {
  with_type(args.x.dtype, [&](auto x) { norm_grad_kernel<decltype(x), true>(device, args); });
}
void rmsnorm(Device& device, const NormArgs& args) {
  with_type(args.x.dtype, [&](auto x) { norm_kernel<decltype(x), false>(device, args); });
}
void rmsnorm_grad(Device& device, const NormGradArgs& args) {
  with_type(args.x.dtype, [&](auto x) { norm_grad_kernel<decltype(x), false>(device, args); });
}

}  // namespace shoal::cpu
