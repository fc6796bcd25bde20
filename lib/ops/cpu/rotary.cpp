#include <cmath>

#include "ops/cpu/kernels.h"
#include "ops/cpu/loops.h"
#include "ops/cpu/vector_math.h"

namespace shoal::cpu {
namespace {

// Turns the pairs (first[i * step], second[i * step]) of one head; sign is -1 to turn back. A quarter of a
// head is 8 pairs: with the 32 elements of bf16 that fill a register, the compiler would turn all of them one
// by one.
template <typename T, int step>
void turn(T* first, T* second, const float* cosine, const float* sine, float sign, int64_t pairs) {
#pragma omp simd simdlen(16)
  for (int64_t i = 0; i < pairs; ++i) {
    const float u = load(first[i * step]), v = load(second[i * step]), s = sign * sine[i];
    store(first + i * step, u * cosine[i] - v * s);
    store(second + i * step, v * cosine[i] + u * s);
  }
}

template <typename T>
void rotate(const RotaryArgs& args, const float* cosine, const float* sine) {
  const View& x = args.x;
  const int64_t pairs = args.rotary_dims / 2, positions = x.dim(1);
  const float sign = args.inverse ? -1.0f : 1.0f;
  parallel_for(x.dim(0) * positions, x.numel(), [&](int64_t task) {
    const int64_t b = task / positions, t = task % positions;
    const float* const c = cosine + (args.first_position + t) * pairs;
    const float* const s = sine + (args.first_position + t) * pairs;
    for (int64_t i = 0; i < x.dim(2); ++i) {
      for (int64_t j = 0; j < x.dim(3); ++j) {
        T* const head = row<T>(x, b) + t * x.stride(1) + i * x.stride(2) + j * x.stride(3);
        if (args.interleaved) {
          turn<T, 2>(head, head + 1, c, s, sign, pairs);
        } else {
          turn<T, 1>(head, head + pairs, c, s, sign, pairs);
        }
      }
    }
  });
}

}  // namespace

const Rotary::Table& Rotary::table(const RotaryArgs& args, int64_t positions) {
  Table& table = tables_[{args.rotary_dims, args.base}];
  const int64_t pairs = args.rotary_dims / 2;
  const auto known = static_cast<int64_t>(table.cosine.size());
  // Grown by halves: generation asks for one position more each time.
  if (known < positions * pairs) {
    const int64_t size = std::max(positions, known / pairs * 3 / 2) * pairs;
    table.cosine.resize(static_cast<size_t>(size));
    table.sine.resize(static_cast<size_t>(size));
    for (int64_t i = known; i < size; ++i) {
      const double frequency = std::pow(args.base, -2.0 * double(i % pairs) / double(args.rotary_dims));
      const double angle = double(i / pairs) * frequency;
      table.cosine[static_cast<size_t>(i)] = float(std::cos(angle));
      table.sine[static_cast<size_t>(i)] = float(std::sin(angle));
    }
  }
  return table;
}

void Rotary::operator()(const RotaryArgs& args) {
  if (args.rotary_dims < 2 || args.x.numel() == 0) return;
  const Table& angles = table(args, args.first_position + args.x.dim(1));
  with_type(args.x.dtype,
            [&](auto x) { rotate<decltype(x)>(args, angles.cosine.data(), angles.sine.data()); });
}

}  // namespace shoal::cpu
