#include "shoal/spec_words.h"

namespace shoal {

std::vector<Argument> spec_arguments(bool spec_required) {
  return {{.name = "SPEC",
           .doc = "A run spec (YAML). Several are merged in order; later values win.",
           .completes = Completes::spec_file,
           .required = spec_required,
           .repeated = true},
          {.name = "KEY=VALUE",
           .doc = "Sets one key, over what the files say: optimizer.lr=1e-3",
           .completes = Completes::override_key,
           .required = false,
           .repeated = true}};
}

LoadedSpec spec_of(const Invocation& given, Inputs inputs) {
  return load_spec(given.all("SPEC"), given.all("KEY=VALUE"), inputs);
}

}  // namespace shoal
