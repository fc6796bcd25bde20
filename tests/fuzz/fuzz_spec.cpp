// The reader of run specs: whatever it accepts is written and read back to the same spec.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "spec/load.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  // A first line that begins with '=' holds an override.
  std::vector<std::string> overrides;
  if (!text.empty() && text[0] == '=') {
    const size_t end = text.find('\n');
    overrides.push_back(text.substr(1, end == std::string::npos ? end : end - 1));
    text = end == std::string::npos ? "" : text.substr(end + 1);
  }
  try {
    const shoal::LoadedSpec loaded = shoal::parse_spec(text, "fuzz.yaml", overrides);
    const std::string yaml = shoal::to_yaml(loaded, true);
    if (shoal::to_yaml(shoal::parse_spec(yaml, "again.yaml", {}), false) != shoal::to_yaml(loaded, false))
      std::abort();
  } catch (const shoal::SpecErrors&) {
  }
  return 0;
}
