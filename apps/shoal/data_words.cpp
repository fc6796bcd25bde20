#include "shoal/data_words.h"

#include <algorithm>
#include <thread>

#include "base/error.h"

namespace shoal {

Argument text_files_argument() {
  return {.name = "FILE",
          .doc = "A text or JSONL file, plain, gzip or zstd; a folder; or - for standard input.",
          .repeated = true};
}

std::vector<Flag> with_text_flags(std::vector<Flag> flags) {
  const std::vector<Flag> text = {
      {.name = "--documents",
       .value = "RULE",
       .doc =
           "How files hold documents. auto: each line of a .jsonl file is one, and each other file is one.",
       .choices = {"auto", "jsonl", "file", "line", "blank-line"}},
      {.name = "--separator", .value = "TEXT", .doc = "Documents stand between occurrences of this text."},
      {.name = "--text-key", .value = "KEY", .doc = "Where the text is in a JSONL object (default: text)."},
      {.name = "--skip-invalid", .doc = "Leave out and count documents that are not valid UTF-8 or JSON."},
      {.name = "--threads", .value = "N", .doc = "Threads to use; all cores by default."},
  };
  flags.insert(flags.end(), text.begin(), text.end());
  return flags;
}

Layout layout_of(const Invocation& given) {
  Layout layout;
  layout.text_key = given.text("--text-key", "text");
  layout.separator = given.text("--separator");
  const std::string rule = given.text("--documents", "auto");
  if (rule == "jsonl") layout.kind = Layout::Kind::jsonl;
  if (rule == "file") layout.kind = Layout::Kind::file;
  if (rule == "line") layout.kind = Layout::Kind::line;
  if (rule == "blank-line") layout.kind = Layout::Kind::blank_line;
  if (!layout.separator.empty()) {
    if (rule != "auto") {
      throw UserError(Problem{"--separator and --documents exclude each other", "command line", "", "", ""});
    }
    layout.kind = Layout::Kind::separator;
  }
  return layout;
}

int threads_of(const Invocation& given) {
  return int(given.integer("--threads", std::max(1u, std::thread::hardware_concurrency()), 1, 1024));
}

Flag tokenizer_flag() {
  return {.name = "--tokenizer",
          .value = "NAME",
          .doc = "\"byte\", or the path of a tokenizer.json.",
          .completes = Completes::file};
}

}  // namespace shoal
