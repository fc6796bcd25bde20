// Attention of a few query rows over many keys, as in generation with a key-value cache: bound by reading the
// cache, so it is read once and in place. The keys are cut in spans of a fixed length, whose results are
// combined in order.
#include <omp.h>

#include <cmath>
#include <limits>

#include "ops/cpu/attention_heads.h"

namespace shoal::cpu {

namespace {

using simd::Floats;
using simd::lanes;

constexpr int64_t span = 512;  // keys

inline Floats load_floats(const float* from) {
  return simd::load<Floats>(from);
}
inline Floats load_floats(const bf16* from) {
  return simd::widen_bf16(from);
}

// What a span says of a row: softmax statistics and the weighted sum of values.
struct Partial {
  float maximum, denominator;
};

template <typename T>
class DecodeTask {
 public:
  DecodeTask(const AttentionArgs& args, Arena arena)
      : args_(args),
        heads_(heads_of(args.q, args.k)),
        width_(round_up(heads_.D, lanes)),
        queries_(arena.take<float>(heads_.rows() * width_)),
        scores_(arena.take<float>(heads_.rows() * span)),
        bytes_(arena.used()) {}

  int64_t bytes() const { return bytes_; }

  // Keys [first, last) of head g of batch b; sums [rows, width].
  void run(int64_t b, int64_t g, int64_t first, int64_t last, Partial* partials, float* sums) {
    const auto q = query_rows<const T>(args_.q, b, g);
    const auto k = key_rows<const T>(args_.k, b, g);
    const auto v = key_rows<const T>(args_.v, b, g);
    for (int64_t row = 0; row < heads_.rows(); ++row) {
      for (int64_t d = 0; d < width_; ++d)
        queries_[row * width_ + d] = d < heads_.D ? float(q(row)[d]) : 0.0f;
    }
    for (int64_t key = first; key < last; ++key) {
      for (int64_t row = 0; row < heads_.rows(); ++row) {
        scores_[row * span + key - first] = dot(queries_ + row * width_, k(key));
      }
    }
    for (int64_t row = 0; row < heads_.rows(); ++row) {
      const int64_t seen = std::clamp<int64_t>(heads_.visible(row) - first, 0, last - first);
      partials[row] = exponentiate(scores_ + row * span, seen);
      int64_t d = 0;
      for (; d + 4 * lanes <= width_; d += 4 * lanes)
        add_values<4>(v, first, seen, row, d, sums + row * width_);
      for (; d < width_; d += lanes) add_values<1>(v, first, seen, row, d, sums + row * width_);
    }
  }

 private:
  float dot(const float* a, const T* b) const {
    Floats sum{};
    int64_t d = 0;
    for (; d + lanes <= heads_.D; d += lanes) sum += simd::load<Floats>(a + d) * load_floats(b + d);
    float total = simd::horizontal_sum(sum);
    for (; d < heads_.D; ++d) total += a[d] * float(b[d]);
    return total;
  }

  Partial exponentiate(float* scores, int64_t seen) const {
    if (seen == 0) return {-std::numeric_limits<float>::infinity(), 0.0f};
    for (int64_t j = seen; j < round_up(seen, lanes); ++j)
      scores[j] = -std::numeric_limits<float>::infinity();
    Floats largest = simd::load<Floats>(scores);
    for (int64_t j = lanes; j < seen; j += lanes)
      largest = simd::maximum(simd::load<Floats>(scores + j), largest);
    const float maximum = simd::horizontal_maximum(largest);
    const float scale = args_.scale * log2_e;
    Floats sum{};
    for (int64_t j = 0; j < seen; j += lanes) {
      const Floats p = simd::exp2((simd::load<Floats>(scores + j) - maximum) * scale);
      simd::store(scores + j, p);
      sum += p;
    }
    return {maximum, simd::horizontal_sum(sum)};
  }

  template <int vectors>
  void add_values(const Rows<const T>& v, int64_t first, int64_t seen, int64_t row, int64_t d,
                  float* sums) const {
    Floats sum[vectors] = {};
    for (int64_t j = 0; j < seen; ++j) {
      const float p = scores_[row * span + j];
      for (int i = 0; i < vectors; ++i) {
        T buffer[lanes];
        sum[i] += p * load_floats(padded(v(first + j), d + i * lanes, heads_.D, buffer));
      }
    }
    for (int i = 0; i < vectors; ++i) simd::store(sums + d + i * lanes, sum[i]);
  }

  const AttentionArgs& args_;
  Heads heads_;
  int64_t width_;
  float* queries_;  // [rows, width]
  float* scores_;   // [rows, span]
  int64_t bytes_;
};

// Puts the spans of a row together, in order.
template <typename T>
void combine(const AttentionArgs& args, const Heads& heads, int64_t pair, int64_t spans,
             const Partial* partials, float* sums) {
  const int64_t width = round_up(heads.D, lanes);
  const int64_t b = pair / heads.G, g = pair % heads.G;
  const auto out = query_rows<T>(args.out, b, g);
  for (int64_t row = 0; row < heads.rows(); ++row) {
    float maximum = -std::numeric_limits<float>::infinity();
    for (int64_t s = 0; s < spans; ++s) maximum = std::max(maximum, partials[s * heads.rows() + row].maximum);
    float denominator = 0;
    float* total = sums + row * width;
    for (int64_t s = 0; s < spans; ++s) {
      const Partial& partial = partials[s * heads.rows() + row];
      const float factor = std::exp((partial.maximum - maximum) * args.scale);
      denominator += partial.denominator * factor;
      const float* part = sums + (s * heads.rows() + row) * width;
      for (int64_t d = 0; d < width; ++d) total[d] = (s == 0 ? 0.0f : total[d]) + part[d] * factor;
    }
    store_scaled(out(row), total, heads.D, 1.0f / denominator);
    if (args.lse.defined()) {
      const View& lse = args.lse;
      lse.as<float>()[b * lse.stride(0) + g * lse.stride(1) + row % heads.R * lse.stride(2) +
                      row / heads.R * lse.stride(3)] = maximum * args.scale + std::log(denominator);
    }
  }
}

}  // namespace

template <typename T>
void attention_decode(Device& device, const AttentionArgs& args) {
  const Heads heads = heads_of(args.q, args.k);
  const int64_t spans = ceil_div(heads.S, span), tasks = spans * heads.pairs();
  const int64_t threads = std::min<int64_t>(omp_get_max_threads(), tasks);
  const int64_t bytes = DecodeTask<T>(args, Arena()).bytes();

  const int64_t rows = heads.rows(), width = round_up(heads.D, lanes);
  const int64_t shared = tasks * rows * (int64_t(sizeof(Partial)) + width * int64_t(sizeof(float))) + 2 * 64;
  const auto scratch = device.allocate(shared + bytes * threads);
  Arena arena(static_cast<std::byte*>(scratch.get()));
  Partial* const partials = arena.take<Partial>(tasks * rows);
  float* const sums = arena.take<float>(tasks * rows * width);
  std::byte* const own = arena.take<std::byte>(bytes * threads);

  // Starting the threads costs about as much as some ten thousand multiply-adds.
  const bool parallel = heads.pairs() * rows * heads.S * heads.D > (1 << 16);
#pragma omp parallel num_threads(int(threads)) if (parallel)
  {
    DecodeTask<T> task(args, Arena(own + bytes * omp_get_thread_num()));
#pragma omp for schedule(static)
    for (int64_t i = 0; i < tasks; ++i) {
      const int64_t pair = i / spans, first = i % spans * span;
      task.run(pair / heads.G, pair % heads.G, first, std::min(first + span, heads.S), partials + i * rows,
               sums + i * rows * width);
    }
#pragma omp for schedule(static)
    for (int64_t pair = 0; pair < heads.pairs(); ++pair) {
      combine<T>(args, heads, pair, spans, partials + pair * spans * rows,
                 sums + pair * spans * rows * width);
    }
  }
}

template void attention_decode<float>(Device&, const AttentionArgs&);
template void attention_decode<bf16>(Device&, const AttentionArgs&);

}  // namespace shoal::cpu
