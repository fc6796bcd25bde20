#include "base/error.h"
#include "device/cpu/cpu_device.h"

namespace shoal {

std::unique_ptr<Device> make_device(const std::string& name) {
  if (name == "cpu") return std::make_unique<CpuDevice>();
  throw UserError(
      Problem{.what = "unknown device", .where = "", .value = name, .allowed = "cpu", .hint = ""});
}

}  // namespace shoal
