// Text as HTML and as JSON inside a page.
#pragma once

#include <string>
#include <string_view>

namespace shoal::report {

std::string escaped(std::string_view text);      // & < > " ' as entities
std::string json_string(std::string_view text);  // quoted; safe inside a script element
std::string json_number(double value);           // six significant digits; null if not finite

}  // namespace shoal::report
