#include "base/units.h"

#include <fmt/format.h>

#include <cmath>

namespace shoal {

namespace {

// value with about three digits, then the suffix.
std::string three_digits(double value, const char* suffix) {
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}{}", value, decimals, suffix);
}

}  // namespace

std::string format_count(double n) {
  if (!std::isfinite(n)) return "-";
  if (n < 999.5) return n == std::floor(n) ? fmt::format("{:.0f}", n) : three_digits(n, "");
  if (n < 999.5e3) return three_digits(n / 1e3, "k");
  if (n < 999.5e6) return three_digits(n / 1e6, "M");
  if (n < 999.5e9) return three_digits(n / 1e9, "B");
  return three_digits(n / 1e12, "T");
}

std::string format_bytes(double bytes) {
  const char* suffix[] = {"B", "K", "M", "G", "T"};
  int power = 0;
  while (bytes >= 1023.5 && power < 4) {
    bytes /= 1024;
    ++power;
  }
  return fmt::format("{:.{}f}{}", bytes, power >= 3 && bytes < 99.95 ? 1 : 0, suffix[power]);
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  const auto s = int64_t(std::llround(seconds));
  if (s < 60) return fmt::format("{}s", s);
  const int64_t minutes = (s + 30) / 60;
  if (minutes < 60) return fmt::format("{}m", minutes);
  if (minutes < 24 * 60) return fmt::format("{}h{:02d}m", minutes / 60, minutes % 60);
  const int64_t hours = (minutes + 30) / 60;
  return fmt::format("{}d{:02d}h", hours / 24, hours % 24);
}

std::string format_lr(double lr) {
  const std::string text = fmt::format("{:.1e}", lr);  // 2.9e-04
  const size_t exponent = text.find('e');
  if (exponent == std::string::npos || text.size() < exponent + 4) return text;
  const size_t zero = exponent + 2;
  return text[zero] == '0' ? text.substr(0, zero) + text.substr(zero + 1) : text;
}

}  // namespace shoal
