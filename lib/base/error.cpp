#include "base/error.h"

namespace shoal {

std::string to_string(const Problem& problem) {
  std::string text;
  if (!problem.where.empty()) text += problem.where + ": ";
  text += problem.what;
  if (!problem.value.empty()) text += fmt::format(" (got: {})", problem.value);
  if (!problem.excerpt.empty()) text += "\n" + problem.excerpt;
  if (!problem.allowed.empty()) text += "\n  allowed: " + problem.allowed;
  if (!problem.hint.empty()) text += "\n  hint: " + problem.hint;
  return text;
}

}  // namespace shoal
