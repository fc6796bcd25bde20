// The words SPEC... and KEY=VALUE... of a command that reads a run spec.
#pragma once

#include "shoal/command.h"
#include "spec/load.h"

namespace shoal {

std::vector<Argument> spec_arguments(bool spec_required = true);

// The spec that the words name. Throws SpecErrors with every mistake in it, missing files among them where
// asked.
LoadedSpec spec_of(const Invocation& given, Inputs inputs);

}  // namespace shoal
