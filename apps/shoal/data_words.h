// Words that the commands which read text files share.
#pragma once

#include <vector>

#include "data_tools/block_reader.h"
#include "shoal/command.h"

namespace shoal {

Argument text_files_argument();

// The flags that say how files hold documents, behind a command's own.
std::vector<Flag> with_text_flags(std::vector<Flag> flags);

Layout layout_of(const Invocation& given);
int threads_of(const Invocation& given);

// --tokenizer NAME
Flag tokenizer_flag();

}  // namespace shoal
