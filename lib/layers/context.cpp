#include "layers/context.h"

namespace shoal {

Context make_local_context(Device& device, Ops& ops, DType compute, uint64_t seed) {
  Context context{device, ops, compute, seed, {}, {}, {}, {}};
  for (auto& communicator : context.along) communicator = make_self_communicator();
  return context;
}

}  // namespace shoal
