#include "ops/ops.h"

#include "ops/cpu/cpu_ops.h"

namespace shoal {

std::string_view name_of(Op op) {
  switch (op) {
    case Op::matmul:
      return "matmul";
    case Op::activation:
      return "activation";
    case Op::glu:
      return "glu";
    case Op::layernorm:
      return "layernorm";
    case Op::rmsnorm:
      return "rmsnorm";
    case Op::rotary:
      return "rotary";
    case Op::attention:
      return "attention";
    case Op::embedding:
      return "embedding";
    case Op::add:
      return "add";
    case Op::cross_entropy:
      return "cross_entropy";
    case Op::adamw:
      return "adamw";
    case Op::adam_relative_squares:
      return "adam_relative_squares";
    case Op::sum_squares:
      return "sum_squares";
    case Op::scale:
      return "scale";
    case Op::cast:
      return "cast";
    case Op::fill:
      return "fill";
    case Op::axpby:
      return "axpby";
    case Op::symmetrize:
      return "symmetrize";
  }
  SHOAL_CHECK(false);
}

std::unique_ptr<Ops> make_ops(Device& device) {
  SHOAL_CHECK(device.name() == "cpu");
  return make_cpu_ops(device);
}

}  // namespace shoal
