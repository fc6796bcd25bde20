// page.css and page.js, as they are built into the library.
#pragma once

namespace shoal::report {

extern const char* const page_css;
extern const char* const page_js;

}  // namespace shoal::report
