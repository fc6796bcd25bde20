// The index of a token file: PREFIX.idx in the format of Megatron-LM and GPT-NeoX ("MMIDIDX", version 1).
//
//   offset   size   content (little-endian)
//   0        9      "MMIDIDX" and two zero bytes
//   9        8      u64 version = 1
//   17       1      u8 dtype code of the .bin
//   18       8      u64 S, number of sequences
//   26       8      u64 D, length of doc_idx (documents + 1)
//   34       4 S    i32 sizes, in tokens
//   34+4S    8 S    i64 pointers, byte offsets into the .bin: exclusive prefix sums of the sizes
//   34+12S   8 D    i64 doc_idx, the sequence where each document begins
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "data/mapped_file.h"

namespace shoal {

// What the .bin holds, with the codes of the format. Codes 6 and 7 (floats) mean different types in different
// programs and are refused.
enum class TokenType : uint8_t { u8 = 1, i8 = 2, i16 = 3, i32 = 4, i64 = 5, u16 = 8 };

int64_t size_of(TokenType type);
const char* to_string(TokenType type);

// The type both programs choose for a vocabulary: 16 bits below 65500 tokens.
inline TokenType token_type_for(int64_t vocab_size) {
  return vocab_size < 65500 ? TokenType::u16 : TokenType::i32;
}

inline constexpr int64_t kIndexHeaderBytes = 34;
inline constexpr char kIndexMagic[9] = {'M', 'M', 'I', 'D', 'I', 'D', 'X', 0, 0};

// How much of an index is looked at when it is opened: all of it, or what takes constant time: the header,
// the lengths, the first and the last sequence. The user of a sequence then checks it (check_sequence).
enum class IndexCheck { whole, ends };

// A view of an index, checked when made. Sequences are called documents elsewhere in this program, as in
// GPT-NeoX: training never looks at doc_idx.
class TokenIndex {
 public:
  // Checks the whole index: magic, version, dtype, sizes against the file's length, every size and pointer,
  // the order of doc_idx, and the last pointer against bin_bytes. Throws UserError naming the file and the
  // byte. The file must outlive the view. A pass over it leaves little of it in memory.
  TokenIndex(const MappedFile& file, int64_t bin_bytes, IndexCheck check);
  // The same from memory, checked as a whole.
  TokenIndex(std::span<const std::byte> bytes, const std::string& name, int64_t bin_bytes);

  // Throws UserError unless a sequence lies within the .bin.
  void check_sequence(int64_t sequence, const std::string& name) const;

  TokenType type() const { return type_; }
  int64_t num_sequences() const { return num_sequences_; }
  int64_t num_tokens() const { return num_tokens_; }
  int64_t size(int64_t sequence) const { return load<int32_t>(kIndexHeaderBytes + 4 * sequence); }
  // First token of a sequence, counted from the start of the .bin; begin(num_sequences()) is num_tokens().
  int64_t begin(int64_t sequence) const {
    return sequence == num_sequences_ ? num_tokens_ : pointer(sequence) / size_of(type_);
  }
  // The documents that doc_idx states, or -1 if doc_idx does not reach the last sequence (files merged by
  // GPT-NeoX).
  int64_t num_documents() const { return num_documents_; }

 private:
  // The header has 34 bytes, so nothing behind it is aligned.
  template <typename T>
  T load(int64_t offset) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  int64_t pointer(int64_t sequence) const {
    return load<int64_t>(kIndexHeaderBytes + 4 * num_sequences_ + 8 * sequence);
  }
  void read_header(const std::string& name);
  void check_sequences(const std::string& name, int64_t bin_bytes);
  void check_ends(const std::string& name, int64_t bin_bytes);
  void check_documents(const std::string& name);

  void release(int64_t first, int64_t count) const;

  std::span<const std::byte> bytes_;
  const MappedFile* file_ = nullptr;  // null: from memory
  TokenType type_ = TokenType::u16;
  int64_t num_sequences_ = 0, doc_idx_length_ = 0, num_tokens_ = 0, num_documents_ = -1;
};

}  // namespace shoal
