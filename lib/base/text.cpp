#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace shoal {

int edit_distance(std::string_view a, std::string_view b) {
  const size_t n = b.size();
  std::vector<int> two_back(n + 1), back(n + 1), row(n + 1);
  for (size_t j = 0; j <= n; ++j) back[j] = int(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = int(i);
    for (size_t j = 1; j <= n; ++j) {
      const int change = back[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = std::min({change, back[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], two_back[j - 2] + 1);
    }
    std::swap(two_back, back);
    std::swap(back, row);
  }
  return back[n];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr size_t kLongestWord = 80;  // nobody mistypes more than this; keeps hostile input cheap
  if (word.empty() || word.size() > kLongestWord) return "";
  const std::string wanted = underscored(word);
  std::string best;
  const int limit = std::max(1, int(word.size()) / 3);
  int best_distance = limit + 1;
  for (const std::string& candidate : candidates) {
    const std::string other = underscored(candidate);
    int distance = edit_distance(wanted, other);
    // An abbreviation or an extension is a likely meaning, too: "layers" for "num_layers", "lrate" for "lr".
    const size_t shorter = std::min(wanted.size(), other.size());
    const bool extends = shorter >= 2 && wanted.compare(0, shorter, other, 0, shorter) == 0;
    const bool inside =
        shorter >= 3 && (other.find(wanted) != std::string::npos || wanted.find(other) != std::string::npos);
    if (extends || inside) distance = std::min(distance, limit);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string join_choices(const std::vector<std::string>& choices, std::string_view last_separator) {
  std::string text;
  for (size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) text += i + 1 == choices.size() ? last_separator : std::string_view(", ");
    text += choices[i];
  }
  return text;
}

std::string underscored(std::string_view word) {
  std::string text(word);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

std::string with_commas(int64_t value) {
  std::string text = fmt::format("{}", value);
  const ptrdiff_t first = value < 0 ? 1 : 0;
  for (ptrdiff_t i = ptrdiff_t(text.size()) - 3; i > first; i -= 3) text.insert(size_t(i), ",");
  return text;
}

std::string wrapped(std::string_view text, int width, int indent) {
  std::string result;
  int column = 0;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (column > 0 && column + 1 + int(word.size()) > width) {
      result += "\n" + std::string(size_t(indent), ' ');
      column = 0;
    } else if (column > 0) {
      result += ' ';
      ++column;
    }
    result += word;
    column += int(word.size());
    at = end + 1;
  }
  return result;
}

}  // namespace shoal
