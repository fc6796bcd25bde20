#include "data/bpe/normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "data/bpe/unicode_table.h"
#include "data/utf8.h"

namespace shoal {

namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

void append_normalized(std::string_view text, NormalForm form, std::string& result) {
  int options = UTF8PROC_STABLE;
  options |= form == NormalForm::nfc || form == NormalForm::nfkc ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (form == NormalForm::nfkc || form == NormalForm::nfkd) options |= UTF8PROC_COMPAT;
  utf8proc_uint8_t* mapped = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                   utf8proc_ssize_t(text.size()), &mapped, utf8proc_option_t(options));
  const std::unique_ptr<utf8proc_uint8_t, Free> owner(mapped);
  if (length < 0) runtime_failure("text cannot be normalised: {}", utf8proc_errmsg(length));
  result.append(reinterpret_cast<const char*>(mapped), size_t(length));
}

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

// NFC changes little: only the parts between two boundaries that hold a character which is none are
// normalised.
std::string_view nfc(std::string_view text, std::string& storage) {
  const UnicodeTable& table = UnicodeTable::get();
  storage.clear();
  size_t done = 0, boundary = 0;  // text before `done` is in storage
  for (size_t at = 0; at < text.size();) {
    if (is_ascii(text[at])) {
      while (at + 1 < text.size() && is_ascii(text[at + 1])) ++at;
      boundary = at++;
      continue;
    }
    const size_t begin = at;
    const char32_t c = next_code_point(text, at);
    if (table.is_nfc_boundary(c)) {
      boundary = table.is_nfc_inert(c) ? at : begin;
      continue;
    }
    size_t end = at;
    while (end < text.size()) {
      size_t after = end;
      if (table.is_nfc_boundary(next_code_point(text, after))) break;
      end = after;
    }
    storage.append(text.substr(done, boundary - done));
    append_normalized(text.substr(boundary, end - boundary), NormalForm::nfc, storage);
    done = boundary = at = end;
  }
  if (done == 0) return text;
  storage.append(text.substr(done));
  return storage;
}

}  // namespace

Normalizer::Normalizer(std::vector<NormalForm> forms) : forms_(std::move(forms)) {}

std::string_view Normalizer::operator()(std::string_view text, std::string& storage) const {
  if (forms_.empty() || std::all_of(text.begin(), text.end(), is_ascii)) return text;
  if (forms_.size() == 1 && forms_[0] == NormalForm::nfc) return nfc(text, storage);
  storage = text;
  for (NormalForm form : forms_) {
    std::string next;
    append_normalized(storage, form, next);
    storage = std::move(next);
  }
  return storage;
}

}  // namespace shoal
