#include "data/bpe/unicode_table.h"

#include <utf8proc.h>

#include <map>

namespace shoal {

namespace {

struct Range {
  char32_t first, last;
  CharClass char_class;
};

// Letters and numbers of Unicode 15.1 and 16.0, which utf8proc 2.8 (Unicode 15.0) does not know.
constexpr CharClass L = CharClass::letter, N = CharClass::number;
constexpr Range kNewer[] = {
    {0x1c89, 0x1c8a, L},   {0xa7cb, 0xa7cd, L},   {0xa7da, 0xa7dc, L},   {0x105c0, 0x105f3, L},
    {0x10d40, 0x10d49, N}, {0x10d4a, 0x10d65, L}, {0x10d6f, 0x10d85, L}, {0x10ec2, 0x10ec4, L},
    {0x11380, 0x11389, L}, {0x1138b, 0x1138b, L}, {0x1138e, 0x1138e, L}, {0x11390, 0x113b5, L},
    {0x113b7, 0x113b7, L}, {0x113d1, 0x113d1, L}, {0x113d3, 0x113d3, L}, {0x116d0, 0x116e3, N},
    {0x11bc0, 0x11be0, L}, {0x11bf0, 0x11bf9, N}, {0x13460, 0x143fa, L}, {0x16100, 0x1611d, L},
    {0x16130, 0x16139, N}, {0x16d40, 0x16d6c, L}, {0x16d70, 0x16d79, N}, {0x18cff, 0x18cff, L},
    {0x1ccf0, 0x1ccf9, N}, {0x1e5d0, 0x1e5ed, L}, {0x1e5f0, 0x1e5f0, L}, {0x1e5f1, 0x1e5fa, N},
    {0x2ebf0, 0x2ee5d, L},
};

// Combining marks, and one composition, of Unicode 10 to 15.
struct MarkRange {
  char32_t first, last;
};
constexpr MarkRange kMarksAfterUnicode9[] = {
    {0x7fd, 0x7fd},     {0x898, 0x89f},     {0x8ca, 0x8d3},     {0x9fe, 0x9fe},     {0xc3c, 0xc3c},
    {0xd3b, 0xd3c},     {0xeba, 0xeba},     {0x1715, 0x1715},   {0x1abf, 0x1ace},   {0x1df6, 0x1dfa},
    {0xa82c, 0xa82c},   {0x10d24, 0x10d27}, {0x10eab, 0x10eac}, {0x10efd, 0x10eff}, {0x10f46, 0x10f50},
    {0x10f82, 0x10f85}, {0x11070, 0x11070}, {0x1133b, 0x1133b}, {0x1145e, 0x1145e}, {0x11839, 0x1183a},
    {0x11930, 0x11930}, {0x11938, 0x11938}, {0x1193d, 0x1193e}, {0x11943, 0x11943}, {0x119e0, 0x119e0},
    {0x11a34, 0x11a34}, {0x11a47, 0x11a47}, {0x11a99, 0x11a99}, {0x11d42, 0x11d42}, {0x11d44, 0x11d45},
    {0x11d97, 0x11d97}, {0x11f41, 0x11f42}, {0x16ff0, 0x16ff1}, {0x1e08f, 0x1e08f}, {0x1e130, 0x1e136},
    {0x1e2ae, 0x1e2ae}, {0x1e2ec, 0x1e2ef}, {0x1e4ec, 0x1e4ef},
};

// Unicode's White_Space.
bool is_white_space(char32_t c) {
  return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

CharClass class_of(char32_t c, int category) {
  if (is_white_space(c)) return CharClass::space;
  switch (category) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return CharClass::letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return CharClass::number;
    default:
      return CharClass::other;
  }
}

bool is_word_character(char32_t c, int category) {
  switch (category) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      break;
  }
  const bool circled_letter = (c >= 0x24b6 && c <= 0x24e9) || (c >= 0x1f130 && c <= 0x1f149) ||
                              (c >= 0x1f150 && c <= 0x1f169) || (c >= 0x1f170 && c <= 0x1f189);
  return circled_letter || c == 0x200c || c == 0x200d || class_of(c, category) == CharClass::letter;
}

bool nfc_changes(char32_t c) {
  const auto code = utf8proc_int32_t(c);
  utf8proc_int32_t buffer[8];
  auto length = utf8proc_decompose_char(code, buffer, 8, UTF8PROC_COMPOSE, nullptr);
  if (length < 1 || length > 8) return true;
  length = utf8proc_normalize_utf32(buffer, length, utf8proc_option_t(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  return length != 1 || buffer[0] != code;
}

bool is_nfc_unstable(char32_t c, const utf8proc_property_t& property) {
  constexpr unsigned kNone = 0xffff, kSecond = 0x8000;  // of utf8proc's index of compositions
  const bool joins_to_the_left = property.comb_index != kNone && property.comb_index >= kSecond;
  const bool is_jamo = c >= 0x1160 && c <= 0x11ff;  // vowels and final consonants; composed by arithmetic
  return property.combining_class != 0 || joins_to_the_left || is_jamo ||
         (property.decomp_seqindex != kNone && nfc_changes(c));
}

}  // namespace

UnicodeTable::UnicodeTable() {
  using Page = std::array<uint8_t, kPageSize>;
  std::map<Page, uint16_t> known;
  const auto add = [&](const Page& page) {
    const auto [found, is_new] = known.emplace(page, uint16_t(known.size()));
    if (is_new) pages_.insert(pages_.end(), page.begin(), page.end());
    return found->second;
  };
  Page page{};
  page_.fill(add(page));  // unassigned planes: others, all of them
  for (uint32_t p = 0; p < kPages; ++p) {
    const uint32_t plane = p * kPageSize >> 16;
    if (plane > 3 && plane != 14) continue;
    for (uint32_t i = 0; i < kPageSize; ++i) {
      const char32_t c = p * kPageSize + i;
      const utf8proc_property_t& property = *utf8proc_get_property(utf8proc_int32_t(c));
      page[i] = uint8_t(class_of(c, property.category));
      if (is_word_character(c, property.category)) page[i] |= kWord;
      if (is_nfc_unstable(c, property)) page[i] |= kNfcUnstable;
    }
    for (const Range& range : kNewer) {
      for (char32_t c = range.first; c <= range.last; ++c) {
        if (c / kPageSize == p) page[c % kPageSize] |= uint8_t(uint8_t(range.char_class) | kWord);
      }
    }
    for (const MarkRange& range : kMarksAfterUnicode9) {
      for (char32_t c = range.first; c <= range.last; ++c) {
        if (c / kPageSize == p)
          page[c % kPageSize] = uint8_t((page[c % kPageSize] & ~kNfcUnstable) | kNfcInert);
      }
    }
    page_[p] = add(page);
  }
}

const UnicodeTable& UnicodeTable::get() {
  static const UnicodeTable table;
  return table;
}

}  // namespace shoal
