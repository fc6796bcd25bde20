// How the rows of the key table are written.
#pragma once

#include "spec/key_table.h"

namespace shoal {

std::vector<Key> run_keys();
std::vector<Key> model_keys();
std::vector<Key> training_keys();

inline Allowed anything() {
  return {};
}
inline Allowed at_least(double low) {
  return {.low = low};
}
inline Allowed above(double low) {
  return {.low = low, .low_open = true};
}
inline Allowed between(double low, double high) {
  return {.low = low, .high = high};
}
inline Allowed from_below(double low, double high) {
  return {.low = low, .high = high, .high_open = true};
}
inline Allowed one_of(std::vector<std::string> choices) {
  return {.choices = std::move(choices)};
}
inline Allowed or_value(Allowed allowed, double also) {
  allowed.also = also;
  return allowed;
}

}  // namespace shoal

// The path of a key is the name of its field, so a macro takes both from one word.
#define SHOAL_KEY(member, allowed, unit, doc)                                         \
  Key {                                                                               \
#member, [](RunSpec & spec) -> Field { return &spec.member; }, allowed, unit, doc \
  }
