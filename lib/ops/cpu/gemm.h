// Products of matrices through a library: oneDNN in f32 and bf16, or CBLAS in f32 where the build has no
// oneDNN.
#pragma once

#include <memory>
#include <string>

#include "ops/ops.h"

namespace shoal::cpu {

class Gemm {
 public:
  virtual ~Gemm() = default;
  virtual std::string name() const = 0;  // with the version, for `shoal --version`
  virtual bool supports(DType dtype) const = 0;
  virtual void multiply(const MatmulArgs& args) = 0;  // arguments are valid and not empty
  virtual void weights_changed() = 0;
};

std::unique_ptr<Gemm> make_gemm(Device& device);  // scratch memory is the device's

}  // namespace shoal::cpu
