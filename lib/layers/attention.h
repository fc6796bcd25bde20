// Causal self-attention with grouped-query heads (Ainslie et al. 2023) and rotary positions.
#pragma once

#include <string>

#include "layers/context.h"
#include "layers/linear.h"
#include "layers/parameter.h"
#include "layers/tape.h"

namespace shoal {

// How the M rows that the ranks of x and y work on together are B sequences of T positions, and, in
// generation, what came before them.
struct Positions {
  int64_t rows = 0, length = 0;  // B, T
  int64_t first = 0;             // position of the first of the T
  View keys, values;             // [B, first + T or more, G, D]; undefined in training
};

// After the projection a rank has [M / y rows, G / x groups of heads]. Where its rows are whole sequences
// (B divides by y) it attends to those; otherwise the ranks of y exchange rows for heads, so that each has
// all rows of G / (x y) groups, and back.
class Attention {
 public:
  // G groups of R query heads with one key-value head each, heads of D. The rows of the qkv weight are [G, R
  // + 2, D]: a group's queries, its key, its value. For R = 1 that is the layout of GPT-NeoX.
  struct Spec {
    std::string name;
    int64_t hidden_size = 0, num_heads = 0, num_kv_heads = 0, head_dim = 0;
    bool bias = false;
    int64_t rotary_dims = 0;
    double rotary_base = 10000;
    bool rotary_interleaved = false;
    InitRule init, output_init;
  };
  Attention(ParameterRegistry& registry, const Spec& spec);

  // x [M / x rows, H / y] -> the same. With keys and values given, those of x are stored there and those
  // before are read.
  Var forward(Context& context, Tape& tape, const Var& x, const Positions& positions) const;

 private:
  // What forward leaves for backward.
  struct Kept {
    Tensor qkv, out, out_rows,
        lse;  // out_rows as the output projection read it; out's memory if not exchanged
  };
  void backward(Context& context, const Saved& x, const Positions& positions, Kept kept, Tensor dy,
                Tensor& dx) const;
  // [M / y rows, heads of y ranks] <-> [M rows, heads of one].
  Tensor rows_to_heads(Context& context, const Tensor& rows) const;
  Tensor heads_to_rows(Context& context, const Tensor& heads) const;
  bool exchanges(const Context& context, const Positions& positions) const;
  void rotate(Context& context, const View& qkv, int64_t first, bool inverse) const;
  AttentionArgs heads(const View& qkv) const;

  Spec spec_;
  int64_t queries_;  // R
  Linear qkv_, output_;
};

}  // namespace shoal
