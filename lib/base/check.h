// SHOAL_CHECK is for invariants of the program. It is never reachable
// from input: a user's mistake is a UserError.
#pragma once

namespace shoal {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}

#define SHOAL_CHECK(condition) ((condition) ? void(0) : ::shoal::check_failed(#condition, __FILE__, __LINE__))
