// With P = exp(scale * Q K' - lse), dP = dO V', delta = rowsum(dO * O), dS = P * (dP - delta):
// dV = P' dO, dQ = scale * dS K, dK = scale * dS' Q. P is computed again, a block at a time.
#include <omp.h>

#include <cmath>
#include <limits>

#include "ops/cpu/attention_heads.h"

namespace shoal::cpu {

namespace {

using simd::Floats;
using simd::lanes;
using simd::Words;

constexpr int64_t query_block = 64;
constexpr int64_t key_block = 128;

template <typename T>
class BackwardTask {
  using Product = typename ProductOf<T>::type;
  using Unit = typename Product::Unit;
  static constexpr int per_unit = Product::per_unit;

 public:
  BackwardTask(const AttentionGradArgs& args, Arena arena)
      : args_(args),
        heads_(heads_of(args.q, args.k)),
        width_(heads_.padded_D()),
        depth_(ceil_div(heads_.D, per_unit)),
        score_scale_(args.scale * log2_e),
        keys_transposed_(arena.take<Unit>(round_up(heads_.S, panel_width) * depth_)),
        keys_(arena.take<Unit>(ceil_div(heads_.S, per_unit) * width_)),
        values_transposed_(arena.take<Unit>(round_up(heads_.S, panel_width) * depth_)),
        queries_transposed_(arena.take<Unit>(query_block * depth_)),
        queries_(arena.take<Unit>(query_block / per_unit * width_)),
        douts_transposed_(arena.take<Unit>(query_block * depth_)),
        douts_(arena.take<Unit>(query_block / per_unit * width_)),
        scores_(arena.take<float>(query_block * key_block)),
        dscores_(arena.take<float>(query_block * key_block)),
        dscore_rows_(per_unit == 1 ? reinterpret_cast<Unit*>(dscores_)
                                   : arena.take<Unit>(query_block * key_block / per_unit)),
        dqueries_(arena.take<float>(query_block * width_)),
        bytes_(arena.used()) {}

  int64_t bytes() const { return bytes_; }

  // Rows [first, last) of head g of batch b; first is a multiple of the block. dq is written; dkeys and
  // dvalues [S padded to a panel, padded D] get the rows' share, where the rows see a key.
  void run(int64_t b, int64_t g, int64_t first, int64_t last, float* dkeys, float* dvalues) {
    b_ = b;
    g_ = g;
    dkeys_ = dkeys;
    dvalues_ = dvalues;
    const int64_t seen = heads_.visible(last - 1);
    key_depth_ = ceil_div(seen, per_unit);
    const auto k = key_rows<const T>(args_.k, b, g), v = key_rows<const T>(args_.v, b, g);
    pack_transposed<Product, T>(k, 0, seen, heads_.D, keys_transposed_);
    pack_natural<Product, T>(k, 0, seen, heads_.D, keys_);
    pack_transposed<Product, T>(v, 0, seen, heads_.D, values_transposed_);
    std::fill_n(dkeys, round_up(seen, panel_width) * width_, 0.0f);
    std::fill_n(dvalues, round_up(seen, panel_width) * width_, 0.0f);
    for (int64_t row = first; row < last; row += query_block)
      run_block(row, std::min(query_block, last - row));
  }

 private:
  void run_block(int64_t first, int64_t rows) {
    first_ = first;
    rows_ = rows;
    load_rows();
    const int64_t seen = heads_.visible(first + rows - 1);
    for (int64_t key = 0; key < seen; key += key_block) {
      multiply_transposed(key, queries_transposed_, keys_transposed_, scores_);
      multiply_transposed(key, douts_transposed_, values_transposed_, dscores_);
      differentiate(key);
      add_to_keys(key, reinterpret_cast<const Unit*>(scores_), douts_, dvalues_);
      add_to_keys(key, reinterpret_cast<const Unit*>(dscores_), queries_, dkeys_);
      if (key == 0) {
        add_to_queries<false>(key);
      } else {
        add_to_queries<true>(key);
      }
    }
    const auto dq = query_rows<T>(args_.dq, b_, g_);
    for (int64_t i = 0; i < rows; ++i)
      store_scaled(dq(first + i), dqueries_ + i * width_, heads_.D, args_.scale);
  }

  void load_rows() {
    const auto q = query_rows<const T>(args_.q, b_, g_), out = query_rows<const T>(args_.out, b_, g_);
    const auto dout = query_rows<const T>(args_.dout, b_, g_);
    pack_transposed<Product, T>(q, first_, rows_, heads_.D, queries_transposed_);
    pack_natural<Product, T>(q, first_, rows_, heads_.D, queries_);
    pack_transposed<Product, T>(dout, first_, rows_, heads_.D, douts_transposed_);
    pack_natural<Product, T>(dout, first_, rows_, heads_.D, douts_);
    const View& lse = args_.lse;
    const float* head_lse = lse.as<float>() + b_ * lse.stride(0) + g_ * lse.stride(1);
    for (int64_t i = 0; i < rows_; ++i) {
      const int64_t row = first_ + i;
      lse_[i] = head_lse[row % heads_.R * lse.stride(2) + row / heads_.R * lse.stride(3)] * log2_e;
      delta_[i] = dot(out(row), dout(row));
    }
  }

  float dot(const T* a, const T* b) const {
    T buffer_a[lanes], buffer_b[lanes];
    Floats sum{};
    for (int64_t d = 0; d < heads_.D; d += lanes) {
      sum += reinterpret_cast<Floats>(Singles::load_units(padded(a, d, heads_.D, buffer_a))) *
             reinterpret_cast<Floats>(Singles::load_units(padded(b, d, heads_.D, buffer_b)));
    }
    return simd::horizontal_sum(sum);
  }

  int64_t seen_by(int64_t row, int64_t key) const {
    if (row >= rows_) return 0;
    return std::clamp<int64_t>(heads_.visible(first_ + row) - key, 0, key_block);
  }
  int64_t seen_by_tile(int64_t row, int64_t key) const {
    return seen_by(std::min(row / tile_rows * tile_rows + tile_rows, rows_) - 1, key);
  }

  // The block at `key` of a product of query-like rows with the transpose of key-like rows, where a tile sees
  // it.
  void multiply_transposed(int64_t key, const Unit* rows, const Unit* keys, float* product) const {
    const int64_t widest = seen_by(rows_ - 1, key);
    for (int64_t column = 0; column < widest; column += panel_width) {
      const Unit* panel = keys + (key + column) * depth_;
      for (int64_t row = 0; row < rows_; row += tile_rows) {
        const int64_t columns = seen_by_tile(row, key) - column;
        if (columns <= 0) continue;
        const Unit* tile = rows + row / panel_width * panel_width * depth_ + row % panel_width;
        multiply_panel<Product, 1, panel_width, false>(columns, depth_, tile, panel,
                                                       product + row * key_block + column, key_block);
      }
    }
  }

  // Scores become P and dP becomes dS over the same memory, as the transposed operands of the sums over rows:
  // [rows in units][key_block]. dscore_rows_ gets dS as the operand of the sum over keys: [rows][key_block in
  // units].
  void differentiate(int64_t key) {
    constexpr int pair = 2;
    for (int64_t row = 0; row < rows_; row += pair) {
      const int64_t filled = round_up(seen_by(std::min(row + 1, rows_ - 1), key), lanes);
      for (int64_t i = row; i < row + pair; ++i) {
        if (seen_by(i, key) < filled) simd::mask_behind(scores_ + i * key_block, seen_by(i, key), filled);
      }
      for (int64_t j = 0; j < filled; j += lanes) {
        Floats p[pair], ds[pair];
        for (int i = 0; i < pair; ++i) {
          const int64_t at = (row + i) * key_block + j;
          p[i] = simd::exp2(simd::load<Floats>(scores_ + at) * score_scale_ - lse_[row + i]);
          ds[i] = p[i] * (simd::load<Floats>(dscores_ + at) - delta_[row + i]);
        }
        store_pair(row, j, p, ds);
      }
      const Floats zeros[pair] = {};
      for (int64_t j = filled; j < seen_by_tile(row, key); j += lanes) store_pair(row, j, zeros, zeros);
    }
  }

  void store_pair(int64_t row, int64_t j, const Floats (&p)[2], const Floats (&ds)[2]) {
    if constexpr (per_unit == 1) {
      for (int i = 0; i < 2; ++i) {
        simd::store(scores_ + (row + i) * key_block + j, p[i]);
        simd::store(dscores_ + (row + i) * key_block + j, ds[i]);
      }
    } else {
      const Words rounded = Product::round(ds);
      simd::store(scores_ + row / 2 * key_block + j, Product::interleave_halves(Product::round(p)));
      simd::store(dscores_ + row / 2 * key_block + j, Product::interleave_halves(rounded));
      Product::store_halves(rounded, dscore_rows_ + (row * key_block + j) / 2,
                            dscore_rows_ + ((row + 1) * key_block + j) / 2);
    }
  }

  // Adds the transpose of a block [rows][keys] times query-like rows to key-like sums.
  void add_to_keys(int64_t key, const Unit* block, const Unit* rows, float* sums) const {
    const int64_t widest = seen_by(rows_ - 1, key);
    const int64_t depth = ceil_div(rows_, per_unit);
    for (int64_t d = 0; d < heads_.D; d += panel_width) {
      for (int64_t column = 0; column < widest; column += tile_rows) {
        const int64_t skipped = std::max<int64_t>(0, heads_.first_to_see(key + column) - first_) / per_unit;
        multiply_panel<Product, 1, key_block, true>(
            heads_.D - d, depth - skipped, block + skipped * key_block + column,
            rows + d * depth + skipped * panel_width, sums + (key + column) * width_ + d, width_);
      }
    }
  }

  template <bool accumulate>
  void add_to_queries(int64_t key) {
    for (int64_t d = 0; d < heads_.D; d += panel_width) {
      const Unit* panel = keys_ + d * key_depth_ + key / per_unit * panel_width;
      for (int64_t row = 0; row < rows_; row += tile_rows) {
        const int64_t depth = ceil_div(seen_by_tile(row, key), per_unit);
        multiply_panel<Product, key_block / per_unit, 1, accumulate>(
            heads_.D - d, depth, dscore_rows_ + row * (key_block / per_unit), panel,
            dqueries_ + row * width_ + d, width_);
      }
    }
  }

  const AttentionGradArgs& args_;
  Heads heads_;
  int64_t width_;                                                     // padded D
  int64_t depth_;                                                     // of a product over D, in units
  float score_scale_;                                                 // scores to powers of two
  Unit *keys_transposed_, *keys_, *values_transposed_;                // all keys
  Unit *queries_transposed_, *queries_, *douts_transposed_, *douts_;  // one block of rows
  float *scores_, *dscores_;                                          // [query_block, key_block]
  Unit* dscore_rows_;
  float* dqueries_;  // [query_block, padded D]
  int64_t bytes_;

  int64_t b_ = 0, g_ = 0, first_ = 0, rows_ = 0, key_depth_ = 0;
  float *dkeys_ = nullptr, *dvalues_ = nullptr;
  float lse_[query_block + 1] = {}, delta_[query_block + 1] = {};
};

// Long heads are cut in pieces of about equal work when there are few of them. The number of pieces sets the
// order of the sums, so it depends on the shape only.
int64_t pieces_of(const Heads& heads) {
  constexpr int64_t enough_tasks = 32, least_rows = 256;
  return std::clamp<int64_t>(ceil_div(enough_tasks, heads.pairs()), 1,
                             std::max<int64_t>(1, heads.rows() / least_rows));
}
// Work grows with the square of the row, since S == T.
int64_t piece_begin(const Heads& heads, int64_t piece, int64_t pieces) {
  if (piece == pieces) return heads.rows();
  const double at = double(heads.rows()) * std::sqrt(double(piece) / double(pieces));
  return int64_t(at) / query_block * query_block;
}

// Sums the pieces' shares of one key in order.
template <typename T>
void store_key(T* to, const float* shares, int64_t share_stride, int64_t first_piece, int64_t pieces,
               int64_t D, float factor, float* sum) {
  if (first_piece + 1 == pieces) return store_scaled(to, shares + first_piece * share_stride, D, factor);
  std::copy_n(shares + first_piece * share_stride, D, sum);
  for (int64_t p = first_piece + 1; p < pieces; ++p) {
    for (int64_t d = 0; d < D; ++d) sum[d] += shares[p * share_stride + d];
  }
  store_scaled(to, sum, D, factor);
}

}  // namespace

template <typename T>
void attention_backward(Device& device, const AttentionGradArgs& args) {
  const Heads heads = heads_of(args.q, args.k);
  const int64_t pieces = pieces_of(heads), tasks = pieces * heads.pairs();
  const int64_t threads = std::min<int64_t>(omp_get_max_threads(), tasks);
  const int64_t width = heads.padded_D();
  const int64_t share = round_up(heads.S, panel_width) * width;  // of dkeys or dvalues
  const int64_t bytes = round_up(BackwardTask<T>(args, Arena()).bytes(), 4096);
  // With one piece a head, a thread writes out its sums at once and uses the memory again.
  const int64_t shares = 2 * share * (pieces == 1 ? threads : tasks);
  const auto scratch =
      device.allocate(shares * int64_t(sizeof(float)) + (bytes + width * int64_t(sizeof(float))) * threads);
  auto* sums = static_cast<float*>(scratch.get());

  // Keys beyond those that a piece sees have no share of it.
  const auto first_piece = [&](int64_t key) {
    int64_t piece = 0;
    while (heads.visible(piece_begin(heads, piece + 1, pieces) - 1) <= key) ++piece;
    return piece;
  };
#pragma omp parallel num_threads(int(threads))
  {
    const int64_t thread = omp_get_thread_num();
    auto* own = reinterpret_cast<std::byte*>(sums + shares) + bytes * thread;
    auto* row = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(sums + shares) + bytes * threads) +
                width * thread;
    BackwardTask<T> task(args, Arena(own));
    const auto store_keys = [&](int64_t pair, const float* shares_of_pair, int64_t begin, int64_t end) {
      const auto dk = key_rows<T>(args.dk, pair / heads.G, pair % heads.G);
      const auto dv = key_rows<T>(args.dv, pair / heads.G, pair % heads.G);
      for (int64_t key = begin; key < end; ++key) {
        const int64_t first = pieces == 1 ? 0 : first_piece(key);
        store_key(dk(key), shares_of_pair + key * width, 2 * share, first, pieces, heads.D, args.scale, row);
        store_key(dv(key), shares_of_pair + share + key * width, 2 * share, first, pieces, heads.D, 1.0f,
                  row);
      }
    };
#pragma omp for schedule(dynamic, 1)
    for (int64_t i = 0; i < tasks; ++i) {
      const int64_t pair = i / pieces, piece = i % pieces;
      float* dkeys = sums + 2 * share * (pieces == 1 ? thread : i);
      const int64_t begin = piece_begin(heads, piece, pieces), end = piece_begin(heads, piece + 1, pieces);
      task.run(pair / heads.G, pair % heads.G, begin, end, dkeys, dkeys + share);
      if (pieces == 1) store_keys(pair, dkeys, 0, heads.S);
    }
    if (pieces > 1) {
      constexpr int64_t span = 64;
      const int64_t spans = ceil_div(heads.S, span);
#pragma omp for schedule(static)
      for (int64_t i = 0; i < heads.pairs() * spans; ++i) {
        const int64_t pair = i / spans, key = i % spans * span;
        store_keys(pair, sums + 2 * share * pieces * pair, key, std::min(key + span, heads.S));
      }
    }
  }
}

template void attention_backward<float>(Device&, const AttentionGradArgs&);
template void attention_backward<bf16>(Device&, const AttentionGradArgs&);

}  // namespace shoal::cpu
