#include "data_tools/documents.h"

#include <algorithm>

#include "base/error.h"
#include "data/utf8.h"
#include "data_tools/jsonl.h"

namespace shoal {

namespace {

class Visitor {
 public:
  Visitor(const Block& block, const Layout& layout, bool skip_invalid,
          const std::function<void(const Document&)>& visit)
      : block_(block), layout_(layout), skip_invalid_(skip_invalid), visit_(visit) {}

  void json_line(size_t begin, std::string_view line) {
    JsonLineError error;
    if (read_json_line(line, layout_.text_key, json_text_, error)) {
      visit_({json_text_, true, true, false});
    } else {
      invalid(begin + error.byte, error.what, {"", true, true, true});
    }
  }

  void text(size_t begin, size_t end, bool is_last) {
    const std::string_view text = std::string_view(block_.text).substr(begin, end - begin);
    Document document{text, !(block_.continued && is_first_), !(block_.continues && is_last), false};
    is_first_ = false;
    if (const size_t bad = find_invalid_utf8(text); bad != std::string_view::npos) {
      document.text = {};
      document.invalid = true;
      invalid(begin + bad, "is not valid UTF-8", document);
    } else {
      visit_(document);
    }
  }

  // An empty part between two marks is a document's end if that document began earlier.
  bool ends_open_document() const { return block_.continued && is_first_; }

 private:
  void invalid(size_t at, const std::string& what, const Document& document) {
    if (skip_invalid_) return visit_(document);
    const std::string_view before = std::string_view(block_.text).substr(0, at);
    const auto line = block_.first_line + std::count(before.begin(), before.end(), '\n');
    const size_t newline = before.rfind('\n');
    const size_t column = newline == std::string_view::npos ? at + 1 : at - newline;
    throw UserError(Problem{what, fmt::format("{}:{} (byte {} of the line)", block_.file, line, column), "",
                            "", "--skip-invalid leaves such documents out and counts them"});
  }

  const Block& block_;
  const Layout& layout_;
  bool skip_invalid_;
  const std::function<void(const Document&)>& visit_;
  bool is_first_ = true;
  std::string json_text_;
};

void visit_lines(const std::string& text, bool is_json, Visitor& visitor) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t newline = std::min(text.find('\n', begin), text.size());
    size_t end = newline;
    if (end > begin && text[end - 1] == '\r') --end;
    if (end > begin && is_json) {
      visitor.json_line(begin, std::string_view(text).substr(begin, end - begin));
    } else if (end > begin) {
      visitor.text(begin, end, false);
    }
    begin = newline + 1;
  }
}

void visit_parts(const std::string& text, std::string_view separator, Visitor& visitor) {
  for (size_t begin = 0;;) {
    const size_t found = text.find(separator, begin);
    const size_t end = std::min(found, text.size());
    const bool is_last = found == std::string::npos;
    if (end > begin || (!is_last && visitor.ends_open_document())) visitor.text(begin, end, is_last);
    if (is_last) return;
    begin = found + separator.size();
  }
}

// Documents are runs of lines that are not empty, without the newline at their end.
void visit_paragraphs(const std::string& text, bool continues, Visitor& visitor) {
  size_t begin = 0, end = 0;  // of the document so far
  bool is_open = visitor.ends_open_document();
  for (size_t at = 0; at < text.size();) {
    const size_t newline = std::min(text.find('\n', at), text.size());
    size_t line_end = newline;
    if (line_end > at && text[line_end - 1] == '\r') --line_end;
    const bool is_rest_of_line = at == 0 && is_open;  // the cut was in the middle of a line
    if (line_end > at || is_rest_of_line) {
      if (!is_open) begin = at;
      is_open = true;
      end = line_end;
    } else if (is_open) {
      visitor.text(begin, end, false);
      is_open = false;
    }
    at = newline + 1;
  }
  if (continues) {
    visitor.text(is_open ? begin : text.size(), text.size(), true);  // a newline at the cut is the document's
  } else if (is_open) {
    visitor.text(begin, end, true);
  }
}

}  // namespace

void for_each_document(const Block& block, const Layout& layout, bool skip_invalid,
                       const std::function<void(const Document&)>& visit) {
  Visitor visitor(block, layout, skip_invalid, visit);
  switch (block.kind) {
    case Layout::Kind::jsonl:
      visit_lines(block.text, true, visitor);
      break;
    case Layout::Kind::line:
      visit_lines(block.text, false, visitor);
      break;
    case Layout::Kind::blank_line:
      visit_paragraphs(block.text, block.continues, visitor);
      break;
    case Layout::Kind::separator:
      visit_parts(block.text, layout.separator, visitor);
      break;
    case Layout::Kind::file:
    case Layout::Kind::automatic:
      visitor.text(0, block.text.size(), true);
      break;
  }
}

}  // namespace shoal
