// The counter-based random generator: the n-th draw of a stream is a function of (seed, stream, n), so that a
// value belongs to a global element and not to the rank or the moment that asks for it. Philox4x32-10 of
// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC11), through Random123.
#pragma once

#include <Random123/philox.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace shoal {

// A stable 64-bit id of a stream's name (FNV-1a).
constexpr uint64_t stream_id(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

class Philox {
 public:
  Philox(uint64_t seed, uint64_t stream) : seed_(seed), stream_(stream) {}
  Philox(uint64_t seed, std::string_view stream) : Philox(seed, stream_id(stream)) {}

  // Four 32-bit words for counter n.
  std::array<uint32_t, 4> block(uint64_t n) const {
    using Generator = r123::Philox4x32_R<10>;
    const Generator::ctr_type counter{
        {uint32_t(n), uint32_t(n >> 32), uint32_t(stream_), uint32_t(stream_ >> 32)}};
    const Generator::key_type key{{uint32_t(seed_), uint32_t(seed_ >> 32)}};
    const auto words = Generator{}(counter, key);
    return {words[0], words[1], words[2], words[3]};
  }

  uint64_t bits(uint64_t n) const {
    const auto w = block(n);
    return (uint64_t(w[0]) << 32) | w[1];
  }

  // Uniform in [0, 1) with 53 bits.
  double uniform(uint64_t n) const { return double(bits(n) >> 11) * 0x1.0p-53; }

  // Standard normal by Box-Muller.
  double normal(uint64_t n) const {
    const auto w = block(n);
    const double u = (double(mantissa(w[0], w[1])) + 0.5) * 0x1.0p-53;
    const double v = double(mantissa(w[2], w[3])) * 0x1.0p-53;
    return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586476925 * v);
  }

 private:
  static uint64_t mantissa(uint64_t high, uint32_t low) { return (high << 21) ^ (low >> 11); }

  uint64_t seed_, stream_;
};

}  // namespace shoal
