// The documents in a block, checked.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "data_tools/block_reader.h"

namespace shoal {

struct Document {
  std::string_view text;  // valid UTF-8, or empty if invalid; lives during the call
  bool begins = true;     // false: the rest of the document that the block before ended with
  bool ends = true;       // false: goes on in the next block
  bool invalid = false;
};

// Calls visit for each document of the block in order. Empty lines and empty parts between separators are no
// documents; an empty file or JSON text is one. What is not valid UTF-8 or not the JSON that is expected is a
// UserError naming file, line and byte, or with skip_invalid a document marked invalid.
void for_each_document(const Block& block, const Layout& layout, bool skip_invalid,
                       const std::function<void(const Document&)>& visit);

}  // namespace shoal
