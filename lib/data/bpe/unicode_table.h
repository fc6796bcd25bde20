// What the tokenizer asks about a code point, in one table look-up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal {

// The classes that the GPT-2 pattern tells apart.
enum class CharClass : uint8_t { other = 0, letter = 1, number = 2, space = 3 };

// Built from utf8proc, and brought to Unicode 16.0 by a list of the letters and numbers that came after its
// data, so that ids do not depend on the version installed. Immutable; one is shared by the whole program.
class UnicodeTable {
 public:
  static const UnicodeTable& get();

  CharClass char_class(char32_t c) const { return CharClass(flags(c) & kClassMask); }
  // True if NFC neither changes the character nor joins it to what stands before it: text may be cut before
  // it.
  bool is_nfc_boundary(char32_t c) const { return (flags(c) & kNfcUnstable) == 0; }
  // True for characters that NFC leaves alone together with their neighbours: text may be cut behind them
  // too. The tokenizers library normalises with the data of Unicode 9, to which the marks assigned later are
  // no marks; models were trained with its ids, so its NFC is the one that is right here.
  bool is_nfc_inert(char32_t c) const { return (flags(c) & kNfcInert) != 0; }
  // A letter, mark, decimal digit, connector or joiner: \w of the regular expressions.
  bool is_word(char32_t c) const { return (flags(c) & kWord) != 0; }

 private:
  static constexpr uint8_t kClassMask = 3, kNfcUnstable = 4, kWord = 8, kNfcInert = 16;
  static constexpr uint32_t kPageSize = 256, kPages = 0x110000 / kPageSize;

  UnicodeTable();
  uint8_t flags(char32_t c) const { return pages_[size_t(page_[c / kPageSize]) * kPageSize + c % kPageSize]; }

  std::array<uint16_t, kPages> page_{};
  std::vector<uint8_t> pages_;
};

}  // namespace shoal
