// Random specs are written and read back; random damage to a spec never does worse than an error.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "spec/checks.h"
#include "spec/load.h"
#include "spec/presets.h"
#include "spec/value.h"

using namespace shoal;

namespace {

std::string random_text() {
  const auto character = rc::gen::elementOf(std::string("abcxyz0189 :#{}[],&*!|>'\"%@`-_.~?\\/="));
  return *rc::gen::container<std::string>(character);
}

double random_number(const Allowed& allowed) {
  const double low = std::isfinite(allowed.low) ? allowed.low : -1e6;
  const double high = std::isfinite(allowed.high) ? allowed.high : low + 1e6;
  const double share = double(*rc::gen::inRange(1, 1000)) / 1000;
  if (allowed.also && *rc::gen::arbitrary<bool>()) return *allowed.also;
  return low + (high - low) * share;
}

struct Randomize {
  const Key& key;
  void operator()(int64_t* value) const { *value = int64_t(std::ceil(random_number(key.allowed))); }
  void operator()(uint64_t* value) const { *value = *rc::gen::arbitrary<uint64_t>(); }
  void operator()(double* value) const { *value = random_number(key.allowed); }
  void operator()(bool* value) const { *value = *rc::gen::arbitrary<bool>(); }
  void operator()(std::optional<bool>* value) const {
    const int choice = *rc::gen::inRange(0, 3);
    *value = choice == 2 ? std::nullopt : std::optional<bool>(choice == 1);
  }
  void operator()(std::string* value) const {
    if (key.path == "model.preset") {
      *value = *rc::gen::elementOf(preset_names());
    } else {
      *value = key.allowed.choices.empty() ? random_text() : *rc::gen::elementOf(key.allowed.choices);
    }
  }
  void operator()(std::array<double, 2>* value) const {
    for (double& number : *value) number = random_number(key.allowed) * 0.999;
  }
  void operator()(std::vector<DataSource>* value) const {
    value->resize(size_t(*rc::gen::inRange(0, 3)));
    for (DataSource& source : *value) source = {"p" + random_text(), 0.5 + double(*rc::gen::inRange(0, 100))};
  }
};

LoadedSpec random_spec() {
  LoadedSpec loaded;
  for (const Key& key : key_table()) {
    std::visit([&](auto* value) { Randomize{key}(value); }, key.field(loaded.spec));
  }
  return loaded;
}

}  // namespace

TEST_CASE("a written spec is read back to the same spec") {
  CHECK(rc::check([] {
    const LoadedSpec loaded = random_spec();
    const std::string yaml = to_yaml(loaded, *rc::gen::arbitrary<bool>());
    // Contradictions between random values are refused; single values never may be.
    if (spec_conflicts(loaded.spec).empty()) {
      RC_ASSERT(to_yaml(parse_spec(yaml, "a.yaml", {}), false) == to_yaml(loaded, false));
    } else {
      try {
        parse_spec(yaml, "a.yaml", {});
        RC_FAIL("a contradiction was accepted");
      } catch (const SpecErrors& errors) {
        RC_ASSERT(errors.problems().size() == spec_conflicts(loaded.spec).size());
      }
    }
  }));
}

TEST_CASE("every single value is written and read back") {
  CHECK(rc::check([] {
    const LoadedSpec loaded = random_spec();
    for (const Key& key : key_table()) {
      RunSpec copy;
      RC_ASSERT(assign(key, read_yaml(value_text(key, loaded.spec)), copy).empty());
      RC_ASSERT(same_value(key, copy, loaded.spec));
    }
  }));
}

TEST_CASE("damage to a spec is an error or harmless") {
  std::ostringstream demo;
  demo << std::ifstream(SHOAL_SOURCE_DIR "/configs/demo.yaml").rdbuf();
  CHECK(rc::check([text = demo.str()] {
    std::string damaged = text;
    const int times = *rc::gen::inRange(1, 6);
    for (int i = 0; i < times; ++i) {
      const auto at = size_t(*rc::gen::inRange(0, int(damaged.size())));
      const auto kind = *rc::gen::inRange(0, 3);
      if (kind == 0) damaged[at] = *rc::gen::arbitrary<char>();
      if (kind == 1) damaged.erase(at, size_t(*rc::gen::inRange(1, 20)));
      if (kind == 2)
        damaged.insert(at, *rc::gen::elementOf(std::vector<std::string>{"[", "{", "- ", ": ", "\n", "&a ",
                                                                        "*a", "<<: ", "\"", "!!"}));
    }
    try {
      parse_spec(damaged, "a.yaml", {});
    } catch (const SpecErrors& errors) {
      RC_ASSERT(!errors.problems().empty());
      for (const Problem& problem : errors.problems()) RC_ASSERT(!problem.what.empty());
    }
  }));
}
