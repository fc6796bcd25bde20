// What the attention kernels share: sizes, scratch memory, views as rows of one head.
#pragma once

#include <cstddef>

#include "ops/cpu/attention_pack.h"
#include "ops/ops.h"

namespace shoal::cpu {

// Sizes as in ops.h. The T * R query rows of one (batch, key-value head) share its keys, so they are one
// matrix, ordered by position; row i sees the keys [0, visible(i)).
struct Heads {
  int64_t B, T, S, G, R, D;

  int64_t pairs() const { return B * G; }
  int64_t rows() const { return T * R; }
  int64_t visible(int64_t row) const { return S - T + row / R + 1; }
  int64_t first_to_see(int64_t key) const { return std::max<int64_t>(0, key - (S - T)) * R; }
  int64_t padded_D() const { return round_up(D, panel_width); }
};

inline Heads heads_of(const View& q, const View& k) {
  return {q.dim(0), q.dim(1), k.dim(1), q.dim(2), q.dim(3), q.dim(4)};
}

// Head g of batch b: of a [B, T, G, R, D] or a [B, S, G, D] view.
template <typename T>
Rows<T> query_rows(const View& x, int64_t b, int64_t g) {
  auto* data = x.as<std::remove_const_t<T>>() + b * x.stride(0) + g * x.stride(2);
  return {data, x.stride(1), x.stride(3), x.dim(3)};
}
template <typename T>
Rows<T> key_rows(const View& x, int64_t b, int64_t g) {
  return {x.as<std::remove_const_t<T>>() + b * x.stride(0) + g * x.stride(2), x.stride(1)};
}

// Hands out aligned pieces of one allocation; without memory it only measures.
class Arena {
 public:
  explicit Arena(std::byte* memory = nullptr) : memory_(memory) {}

  template <typename T>
  T* take(int64_t count) {
    const int64_t at = used_;
    used_ += round_up(count * int64_t(sizeof(T)), 64);
    return memory_ ? reinterpret_cast<T*>(memory_ + at) : nullptr;
  }
  int64_t used() const { return used_; }

 private:
  std::byte* memory_;
  int64_t used_ = 0;
};

inline constexpr float log2_e = 1.44269504f;

// One pass for tasks of few query rows, where packing the keys would cost more than reading them
// (attention_decode.cpp).
inline constexpr int64_t most_decode_rows = 8;
template <typename T>
void attention_decode(Device& device, const AttentionArgs& args);
template <typename T>
void attention_forward(Device& device, const AttentionArgs& args);
template <typename T>
void attention_backward(Device& device, const AttentionGradArgs& args);

}  // namespace shoal::cpu
