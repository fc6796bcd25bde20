#include "data_tools/block_reader.h"

#include <algorithm>

namespace shoal {

namespace {

Layout::Kind kind_of(const Layout& layout, const std::string& path) {
  if (layout.kind != Layout::Kind::automatic) return layout.kind;
  const std::string name = path.substr(path.rfind('/') + 1);
  for (const char* extension : {".jsonl", ".ndjson", ".json"}) {
    if (name.find(extension) != std::string::npos) return Layout::Kind::jsonl;
  }
  return Layout::Kind::file;
}

// Behind the last of the occurrences that a reader from the front meets, or 0: marks may overlap, as in
// "---".
size_t behind_last_separator(std::string_view text, std::string_view mark) {
  size_t behind = 0;
  for (size_t at; (at = text.find(mark, behind)) != std::string_view::npos;) behind = at + mark.size();
  return behind;
}

// Behind the last occurrence, or 0.
size_t behind_last(std::string_view text, std::string_view mark) {
  const size_t at = text.rfind(mark);
  return at == std::string_view::npos ? 0 : at + mark.size();
}

}  // namespace

BlockReader::BlockReader(std::vector<InputFile> files, Layout layout, SafeCut safe_cut, size_t block_bytes)
    : files_(std::move(files)),
      layout_(std::move(layout)),
      safe_cut_(std::move(safe_cut)),
      block_bytes_(block_bytes) {}

bool BlockReader::open_next_file() {
  if (file_ == files_.size()) return false;
  stream_ = open_stream(files_[file_].path);
  kind_ = kind_of(layout_, files_[file_].path);
  line_ = 1;
  ++file_;
  return true;
}

// Where the block ends that begins with rest_, or 0: read on.
size_t BlockReader::find_cut(bool at_end, bool& continues) const {
  continues = false;
  if (at_end) return rest_.size();
  size_t cut = 0;
  switch (kind_) {
    case Layout::Kind::jsonl:
    case Layout::Kind::line:
      return behind_last(rest_, "\n");
    case Layout::Kind::blank_line:
      cut = std::max(behind_last(rest_, "\n\n"), behind_last(rest_, "\n\r\n"));
      break;
    case Layout::Kind::separator:
      cut = behind_last_separator(rest_, layout_.separator);
      break;
    case Layout::Kind::file:
    case Layout::Kind::automatic:
      break;
  }
  if (cut > 0) return cut;
  // A long document: its parts must not cut a mark either, so leave the end of the text for the next block.
  const size_t margin = kind_ == Layout::Kind::file ? 0 : layout_.separator.size() + 2;
  if (rest_.size() <= margin) return 0;
  continues = true;
  return safe_cut_(std::string_view(rest_).substr(0, rest_.size() - margin));
}

void BlockReader::emit(size_t cut, Block& block) {
  block.kind = kind_;
  block.file = files_[file_ - 1].path;
  block.first_line = line_;
  block.text = rest_.substr(0, cut);
  rest_.erase(0, cut);
  line_ += std::count(block.text.begin(), block.text.end(), '\n');
  block.bytes_consumed = bytes_before_ + stream_->consumed();
}

bool BlockReader::next(Block& block) {
  size_t wanted = block_bytes_;
  while (stream_ != nullptr || open_next_file()) {
    bool at_end = false;
    while (rest_.size() < wanted && !at_end) {
      const size_t before = rest_.size(), room = wanted - before;
      rest_.resize(wanted);
      const size_t n = stream_->read(rest_.data() + before, room);
      rest_.resize(before + n);
      at_end = n == 0;
    }
    bool continues = false;
    const size_t cut = find_cut(at_end, continues);
    if (cut == 0 && !at_end) {
      wanted += wanted;  // twice as much, so that one huge document is not searched over and over
      continue;
    }
    emit(cut, block);
    block.continued = continues_;
    block.continues = continues_ = continues;
    block.last_of_file = at_end;
    if (at_end) {
      bytes_before_ += stream_->consumed();
      stream_.reset();
    }
    return true;
  }
  return false;
}

}  // namespace shoal
