// Rotary position embedding: a thread turns one pair of one head.
#include "ops/gpu/element.h"
#include "ops/gpu/kernels.h"

namespace shoal::gpu {
namespace {

template <typename T>
struct Turn {
  T* x;
  int64_t dims[4], strides[4];  // B, T, A, C
  int64_t pairs, first_position;
  bool interleaved;
  float sign;
  const float *cosine, *sine;
  __device__ void operator()(int64_t at) const {
    const int64_t pair = at % pairs;
    int64_t rest = at / pairs, offset = 0, position = 0;
    for (int d = 3; d >= 0; --d) {
      const int64_t index = rest % dims[d];
      rest /= dims[d];
      offset += index * strides[d];
      if (d == 1) position = index + first_position;
    }
    T* const first = x + offset + (interleaved ? 2 * pair : pair);
    T* const second = first + (interleaved ? 1 : pairs);
    const float c = cosine[position * pairs + pair], s = sign * sine[position * pairs + pair];
    const float u = load(*first), v = load(*second);
    store(first, u * c - v * s);
    store(second, v * c + u * s);
  }
};

}  // namespace

void rotary(Stream stream, const RotaryArgs& args, const float* cosine, const float* sine) {
  with_type(args.x.dtype, [&](auto type) {
    using T = decltype(type);
    Turn<T> turn{};
    turn.x = args.x.as<T>();
    int64_t heads = 1;
    for (int d = 0; d < 4; ++d) {
      turn.dims[d] = args.x.dim(d);
      turn.strides[d] = args.x.stride(d);
      heads *= args.x.dim(d);
    }
    turn.pairs = args.rotary_dims / 2;
    turn.first_position = args.first_position;
    turn.interleaved = args.interleaved;
    turn.sign = args.inverse ? -1.0f : 1.0f;
    turn.cosine = cosine;
    turn.sine = sine;
    for_each(stream, heads * turn.pairs, turn);
  });
}

}  // namespace shoal::gpu
