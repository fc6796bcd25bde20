#include <omp.h>

#include <cmath>
#include <limits>
#include <utility>

#include "ops/cpu/attention_heads.h"

namespace shoal::cpu {

namespace {

using simd::Floats;
using simd::lanes;

// Scores are held for a block of query rows and keys at a time, sized so that they and the operands of a tile
// stay in the first-level cache.
constexpr int64_t query_block = 64;
constexpr int64_t key_block = 128;

template <typename T>
class ForwardTask {
  using Product = typename ProductOf<T>::type;
  using Unit = typename Product::Unit;
  static constexpr int per_unit = Product::per_unit;
  static constexpr int64_t step = lanes * per_unit;  // scores that make a vector of units

 public:
  ForwardTask(const AttentionArgs& args, Arena arena)
      : args_(args),
        heads_(heads_of(args.q, args.k)),
        width_(heads_.padded_D()),
        depth_(ceil_div(heads_.D, per_unit)),
        score_scale_(args.scale * log2_e),
        keys_(arena.take<Unit>(round_up(heads_.S, panel_width) * depth_)),
        values_(arena.take<Unit>(ceil_div(heads_.S, per_unit) * width_)),
        queries_(arena.take<Unit>(query_block * depth_)),
        scores_(arena.take<float>(query_block * key_block)),
        sums_(arena.take<float>(query_block * width_)),
        bytes_(arena.used()) {}

  int64_t bytes() const { return bytes_; }

  // Rows [first, last) of head g of batch b; first is a multiple of the block.
  void run(int64_t b, int64_t g, int64_t first, int64_t last) {
    b_ = b;
    g_ = g;
    const int64_t seen = heads_.visible(last - 1);
    value_depth_ = ceil_div(seen, per_unit);
    pack_transposed<Product, T>(key_rows<const T>(args_.k, b, g), 0, seen, heads_.D, keys_);
    pack_natural<Product, T>(key_rows<const T>(args_.v, b, g), 0, seen, heads_.D, values_);
    for (int64_t row = first; row < last; row += query_block) {
      run_block(row, std::min(query_block, last - row));
    }
  }

 private:
  void run_block(int64_t first, int64_t rows) {
    first_ = first;
    rows_ = rows;
    pack_transposed<Product, T>(query_rows<const T>(args_.q, b_, g_), first, rows, heads_.D, queries_);
    for (int64_t i = 0; i < rows; ++i) {
      maximum_[i] = -std::numeric_limits<float>::infinity();
      denominator_[i] = Floats{};
    }
    const int64_t seen = heads_.visible(first + rows - 1);
    for (int64_t key = 0; key < seen; key += key_block) {
      multiply_keys(key);
      raise_maxima(key);
      exponentiate(key);
      if (key == 0) {
        multiply_values<false>(key);
      } else {
        multiply_values<true>(key);
      }
    }
    store_rows();
  }

  // How many keys of the block at `key` the row sees, and how many the last row of its tile does.
  int64_t seen_by(int64_t row, int64_t key) const {
    return std::clamp<int64_t>(heads_.visible(first_ + row) - key, 0, key_block);
  }
  int64_t seen_by_tile(int64_t row, int64_t key) const {
    return seen_by(std::min(row / tile_rows * tile_rows + tile_rows, rows_) - 1, key);
  }

  void multiply_keys(int64_t key) {
    const int64_t widest = seen_by(rows_ - 1, key);
    for (int64_t column = 0; column < widest; column += panel_width) {
      const Unit* panel = keys_ + (key + column) * depth_;
      for (int64_t row = 0; row < rows_; row += tile_rows) {
        const int64_t columns = seen_by_tile(row, key) - column;
        if (columns <= 0) continue;
        const Unit* tile = queries_ + row / panel_width * panel_width * depth_ + row % panel_width;
        multiply_panel<Product, 1, panel_width, false>(columns, depth_, tile, panel,
                                                       scores_ + row * key_block + column, key_block);
      }
    }
  }

  // Puts -inf where a row sees no key, and brings its maximum, and the sums relative to it, up to date.
  void raise_maxima(int64_t key) {
    for (int64_t row = 0; row < rows_; ++row) {
      float* scores = scores_ + row * key_block;
      const int64_t seen = seen_by(row, key);
      if (seen == 0) continue;
      const int64_t filled = round_up(seen, step);
      if (filled > seen) simd::mask_behind(scores, seen, filled);
      Floats largest = simd::splat(maximum_[row]);
      for (int64_t j = 0; j < seen; j += lanes)
        largest = simd::maximum(simd::load<Floats>(scores + j), largest);
      const float maximum = simd::horizontal_maximum(largest);
      const float before = std::exchange(maximum_[row], maximum);
      if (key == 0 || maximum == before) continue;
      const Floats factor = simd::exp2(simd::splat((before - maximum) * score_scale_));
      denominator_[row] *= factor;
      float* sums = sums_ + row * width_;
      for (int64_t d = 0; d < width_; d += lanes)
        simd::store(sums + d, simd::load<Floats>(sums + d) * factor);
    }
  }

  // Scores become exp(score - maximum), in the units of the product, over the same memory.
  void exponentiate(int64_t key) {
    for (int64_t row = 0; row < rows_; ++row) {
      float* scores = scores_ + row * key_block;
      const int64_t seen = seen_by(row, key), needed = seen_by_tile(row, key);
      const Floats offset = simd::splat(-maximum_[row] * score_scale_);
      Floats sum = denominator_[row];
      int64_t j = 0;
      for (; j < seen; j += step) {
        Floats p[per_unit];
        for (int i = 0; i < per_unit; ++i) {
          p[i] = simd::exp2(simd::load<Floats>(scores + j + i * lanes) * score_scale_ + offset);
        }
        simd::store(scores + j / per_unit, Product::round(p));
        sum += per_unit == 1 ? p[0] : p[0] + p[per_unit - 1];
      }
      denominator_[row] = sum;
      for (; j < needed; j += step) simd::store(scores + j / per_unit, Floats{});
    }
  }

  template <bool accumulate>
  void multiply_values(int64_t key) {
    const auto* probabilities = reinterpret_cast<const Unit*>(scores_);
    for (int64_t d = 0; d < heads_.D; d += panel_width) {
      const Unit* panel = values_ + d * value_depth_ + key / per_unit * panel_width;
      for (int64_t row = 0; row < rows_; row += tile_rows) {
        const int64_t depth = ceil_div(seen_by_tile(row, key), per_unit);
        multiply_panel<Product, key_block, 1, accumulate>(
            heads_.D - d, depth, probabilities + row * key_block, panel, sums_ + row * width_ + d, width_);
      }
    }
  }

  void store_rows() {
    const auto out = query_rows<T>(args_.out, b_, g_);
    const auto lse = args_.lse;
    for (int64_t i = 0; i < rows_; ++i) {
      const float denominator = simd::horizontal_sum(denominator_[i]);
      store_scaled(out(first_ + i), sums_ + i * width_, heads_.D, 1.0f / denominator);
      if (lse.defined()) {
        const int64_t t = (first_ + i) / heads_.R, r = (first_ + i) % heads_.R;
        lse.as<float>()[b_ * lse.stride(0) + g_ * lse.stride(1) + r * lse.stride(2) + t * lse.stride(3)] =
            maximum_[i] * args_.scale + std::log(denominator);
      }
    }
  }

  const AttentionArgs& args_;
  Heads heads_;
  int64_t width_;      // padded D
  int64_t depth_;      // of a product over D, in units
  float score_scale_;  // scores to powers of two
  Unit* keys_;         // transposed
  Unit* values_;       // natural
  Unit* queries_;      // transposed, one block
  float* scores_;      // [query_block, key_block], then the probabilities
  float* sums_;        // [query_block, padded D] of probability * value
  int64_t bytes_;

  int64_t b_ = 0, g_ = 0, first_ = 0, rows_ = 0, value_depth_ = 0;
  float maximum_[query_block];
  Floats denominator_[query_block];  // a sum for each lane
};

}  // namespace

template <typename T>
void attention_forward(Device& device, const AttentionArgs& args) {
  const Heads heads = heads_of(args.q, args.k);
  // Long heads are cut so that all threads have work; each piece packs the keys that it sees. Later rows see
  // more keys, so they go first.
  const int64_t blocks = ceil_div(heads.rows(), query_block);
  const int64_t threads = omp_get_max_threads();
  const int64_t pieces = heads.pairs() >= 8 * threads
                             ? 1
                             : std::clamp<int64_t>(8 * threads / heads.pairs(), 1, ceil_div(blocks, 2));
  const int64_t bytes = round_up(ForwardTask<T>(args, Arena()).bytes(), 4096);
  const auto scratch = device.allocate(bytes * threads);
#pragma omp parallel num_threads(int(threads))
  {
    ForwardTask<T> task(args, Arena(static_cast<std::byte*>(scratch.get()) + bytes * omp_get_thread_num()));
#pragma omp for schedule(dynamic, 1)
    for (int64_t i = 0; i < pieces * heads.pairs(); ++i) {
      const int64_t piece = pieces - 1 - i / heads.pairs();
      const int64_t pair = i % heads.pairs();
      const int64_t first = blocks * piece / pieces * query_block;
      const int64_t last = std::min(blocks * (piece + 1) / pieces * query_block, heads.rows());
      if (first < last) task.run(pair / heads.G, pair % heads.G, first, last);
    }
  }
}

template void attention_forward<float>(Device&, const AttentionArgs&);
template void attention_forward<bf16>(Device&, const AttentionArgs&);

}  // namespace shoal::cpu
