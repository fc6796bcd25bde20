// Numbers for people.
#pragma once

#include <cstdint>
#include <string>

namespace shoal {

std::string format_count(double n);           // 812, 39.8k, 1.21M, 70.4B: three significant digits
std::string format_bytes(double bytes);       // 512B, 1.2G: powers of 1024
std::string format_duration(double seconds);  // 42s, 33m, 2h05m, 3d04h
std::string format_lr(double lr);             // 2.9e-4

}  // namespace shoal
