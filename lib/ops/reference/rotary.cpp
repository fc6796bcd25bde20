#include <cmath>

#include "ops/reference/elements.h"
#include "ops/reference/kernels.h"

namespace shoal::reference {
namespace {

void rotate_head(const RotaryArgs& args, const Elements& x, int64_t b, int64_t t, int64_t a, int64_t c) {
  const int64_t pairs = args.rotary_dims / 2;
  for (int64_t i = 0; i < pairs; ++i) {
    const int64_t first = args.interleaved ? 2 * i : i;
    const int64_t second = args.interleaved ? 2 * i + 1 : i + pairs;
    const double frequency = std::pow(args.base, -2.0 * double(i) / double(args.rotary_dims));
    const double angle = double(args.first_position + t) * frequency * (args.inverse ? -1.0 : 1.0);
    const double u = x(b, t, a, c, first), v = x(b, t, a, c, second);
    x.set(u * std::cos(angle) - v * std::sin(angle), b, t, a, c, first);
    x.set(v * std::cos(angle) + u * std::sin(angle), b, t, a, c, second);
  }
}

}  // namespace

void rotary(const RotaryArgs& args) {
  const Elements x(args.x);
  for (int64_t b = 0; b < args.x.dim(0); ++b) {
    for (int64_t t = 0; t < args.x.dim(1); ++t) {
      for (int64_t a = 0; a < args.x.dim(2); ++a) {
        for (int64_t c = 0; c < args.x.dim(3); ++c) rotate_head(args, x, b, t, a, c);
      }
    }
  }
}

}  // namespace shoal::reference
