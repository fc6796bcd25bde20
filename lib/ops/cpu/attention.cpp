#include "ops/cpu/attention.h"

#include "ops/cpu/attention_heads.h"

namespace shoal::cpu {

namespace {

void check_like(const View& x, const View& model) {
  SHOAL_CHECK(x.shape == model.shape && x.dtype == model.dtype && x.stride(-1) == 1);
}

void check(const View& q, const View& k, const View& v, const View& out, const View& lse, float scale) {
  SHOAL_CHECK(q.rank() == 5 && k.rank() == 4 && q.stride(-1) == 1);
  SHOAL_CHECK(k.dim(0) == q.dim(0) && k.dim(1) >= q.dim(1) && k.dim(2) == q.dim(2) && k.dim(3) == q.dim(4));
  SHOAL_CHECK(k.dtype == q.dtype && scale > 0);
  check_like(k, k);
  check_like(v, k);
  check_like(out, q);
  if (lse.defined()) {
    SHOAL_CHECK(lse.shape == (Shape{q.dim(0), q.dim(2), q.dim(3), q.dim(1)}) && lse.dtype == DType::f32);
  }
}

template <typename T>
void forward(Device& device, const AttentionArgs& args) {
  if (heads_of(args.q, args.k).rows() <= most_decode_rows) {
    attention_decode<T>(device, args);
  } else {
    attention_forward<T>(device, args);
  }
}

}  // namespace

void attention(Device& device, const AttentionArgs& args) {
  check(args.q, args.k, args.v, args.out, args.lse, args.scale);
  if (args.q.numel() == 0) return;
  if (args.q.dtype == DType::bf16) {
    forward<bf16>(device, args);
  } else {
    forward<float>(device, args);
  }
}

void attention_grad(Device& device, const AttentionGradArgs& args) {
  check(args.q, args.k, args.v, args.out, args.lse, args.scale);
  SHOAL_CHECK(args.lse.defined() && args.k.dim(1) == args.q.dim(1));
  check_like(args.dout, args.q);
  check_like(args.dq, args.q);
  check_like(args.dk, args.k);
  check_like(args.dv, args.k);
  if (args.q.numel() == 0) return;
  if (args.q.dtype == DType::bf16) {
    attention_backward<bf16>(device, args);
  } else {
    attention_backward<float>(device, args);
  }
}

}  // namespace shoal::cpu
