// Cuts a stream of files into blocks that can be worked on independently, without looking into them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data_tools/byte_stream.h"
#include "data_tools/input_files.h"

namespace shoal {

// How files hold documents.
struct Layout {
  enum class Kind {
    automatic,   // jsonl for names with .jsonl, .json or .ndjson in them, else file
    jsonl,       // an object a line, the text under text_key
    file,        // one document a file
    line,        // one document a line
    blank_line,  // documents between empty lines
    separator,   // documents between occurrences of a text
  };
  Kind kind = Kind::automatic;
  std::string text_key = "text";
  std::string separator;
};

// A part of one file: whole documents, or a document's part.
struct Block {
  Layout::Kind kind = Layout::Kind::file;  // never automatic
  std::string file;
  int64_t first_line = 1;
  std::string text;
  bool continued = false;  // the first document began in the block before
  bool continues = false;  // the last document goes on in the next block
  bool last_of_file = false;
  int64_t bytes_consumed = 0;  // of all files so far, as they lie on disk
};

class BlockReader {
 public:
  // Where a text that is too long for a block can be cut, or 0: Tokenizer::safe_cut, or any place between
  // characters.
  using SafeCut = std::function<size_t(std::string_view)>;

  BlockReader(std::vector<InputFile> files, Layout layout, SafeCut safe_cut,
              size_t block_bytes = size_t(1) << 20);

  // False at the end. Blocks hold about block_bytes, or one document that cannot be cut.
  bool next(Block& block);

 private:
  bool open_next_file();
  size_t find_cut(bool at_end, bool& continues) const;
  void emit(size_t cut, Block& block);

  std::vector<InputFile> files_;
  Layout layout_;
  SafeCut safe_cut_;
  size_t block_bytes_;
  size_t file_ = 0;  // one past the open one
  std::unique_ptr<ByteStream> stream_;
  Layout::Kind kind_ = Layout::Kind::file;
  std::string rest_;  // read, and not yet in a block
  bool continues_ = false;
  int64_t line_ = 1;
  int64_t bytes_before_ = 0;  // of the files before the open one
};

}  // namespace shoal
