#include "data/token_index.h"

#include "base/error.h"

namespace shoal {

namespace {

[[noreturn]] void fail(const std::string& name, int64_t byte, const std::string& what,
                       const std::string& hint = "") {
  throw UserError(Problem{what, fmt::format("{}: byte {}", name, byte), "", "", hint});
}

}  // namespace

int64_t size_of(TokenType type) {
  switch (type) {
    case TokenType::u8:
    case TokenType::i8:
      return 1;
    case TokenType::i16:
    case TokenType::u16:
      return 2;
    case TokenType::i32:
      return 4;
    case TokenType::i64:
      return 8;
  }
  return 0;
}

const char* to_string(TokenType type) {
  switch (type) {
    case TokenType::u8:
      return "u8";
    case TokenType::i8:
      return "i8";
    case TokenType::i16:
      return "i16";
    case TokenType::u16:
      return "u16";
    case TokenType::i32:
      return "i32";
    case TokenType::i64:
      return "i64";
  }
  return "?";
}

TokenIndex::TokenIndex(const MappedFile& file, int64_t bin_bytes, IndexCheck check)
    : bytes_(file.bytes()), file_(&file) {
  read_header(file.path());
  if (check == IndexCheck::ends) {
    check_ends(file.path(), bin_bytes);
  } else {
    check_sequences(file.path(), bin_bytes);
    check_documents(file.path());
    release(0, int64_t(bytes_.size()));
  }
}

TokenIndex::TokenIndex(std::span<const std::byte> bytes, const std::string& name, int64_t bin_bytes)
    : bytes_(bytes) {
  read_header(name);
  check_sequences(name, bin_bytes);
  check_documents(name);
}

void TokenIndex::read_header(const std::string& name) {
  const auto length = int64_t(bytes_.size());
  constexpr char kLegacyMagic[8] = {'T', 'N', 'T', 'I', 'D', 'X', 0, 0};
  if (length >= 8 && std::memcmp(bytes_.data(), kLegacyMagic, 8) == 0) {
    fail(name, 0, "is an index of the legacy cached/lazy format (TNTIDX), which is not supported",
         "tokenise the corpus again with `shoal data tokenize`, or with the mmap implementation of the other "
         "program");
  }
  if (length < 9 || std::memcmp(bytes_.data(), kIndexMagic, 9) != 0) {
    fail(name, 0, "is not a token index: it does not begin with MMIDIDX");
  }
  if (length < kIndexHeaderBytes) {
    fail(name, length, fmt::format("ends inside the header of {} bytes", kIndexHeaderBytes));
  }
  if (const auto version = load<uint64_t>(9); version != 1) {
    fail(name, 9, fmt::format("has version {}, and only version 1 is known", version));
  }
  const auto code = load<uint8_t>(17);
  if (code == 6 || code == 7)
    fail(name, 17, fmt::format("has dtype code {}: floating-point data are not tokens", code));
  if (code < 1 || code > 8) fail(name, 17, fmt::format("has the unknown dtype code {}", code));
  type_ = TokenType(code);

  const auto sequences = load<uint64_t>(18), documents = load<uint64_t>(26);
  const auto room = uint64_t(length - kIndexHeaderBytes);
  if (sequences > room / 12) {
    fail(name, 18, fmt::format("announces {} sequences, more than its {} bytes can hold", sequences, length));
  }
  if (documents > (room - 12 * sequences) / 8) {
    fail(name, 26,
         fmt::format("announces {} entries of doc_idx, more than its {} bytes can hold", documents, length));
  }
  const uint64_t expected = 12 * sequences + 8 * documents;
  if (expected != room) {
    fail(name, int64_t(expected) + kIndexHeaderBytes,
         fmt::format("has {} bytes behind its last section", room - expected),
         room - expected == sequences ? "multimodal sets with a mode per sequence are not supported" : "");
  }
  num_sequences_ = int64_t(sequences);
  doc_idx_length_ = int64_t(documents);
}

void TokenIndex::release(int64_t first, int64_t count) const {
  if (file_ != nullptr) file_->release(size_t(first), size_t(count));
}

void TokenIndex::check_sequence(int64_t sequence, const std::string& name) const {
  const int64_t item = size_of(type_), at = pointer(sequence), tokens = size(sequence);
  if (tokens >= 0 && at >= 0 && at % item == 0 && at / item <= num_tokens_ &&
      tokens <= num_tokens_ - at / item)
    return;
  fail(name, kIndexHeaderBytes + 4 * sequence,
       fmt::format("sequence {} is said to have {} tokens from byte {} of the .bin, which has {}", sequence,
                   tokens, at, num_tokens_ * item));
}

void TokenIndex::check_ends(const std::string& name, int64_t bin_bytes) {
  num_tokens_ = bin_bytes / size_of(type_);
  if (num_sequences_ > 0) {
    check_sequence(0, name);
    check_sequence(num_sequences_ - 1, name);
  }
  const int64_t last = num_sequences_ - 1;
  const int64_t end = last < 0 ? 0 : pointer(last) + size(last) * size_of(type_);
  if (end != bin_bytes || (last >= 0 && pointer(0) != 0)) {
    fail(name, kIndexHeaderBytes,
         fmt::format("its {} sequences end at byte {}, but the .bin has {}", num_sequences_, end, bin_bytes),
         "the .bin is truncated, or belongs to another index");
  }
}

void TokenIndex::check_sequences(const std::string& name, int64_t bin_bytes) {
  constexpr int64_t kBlock = 4 << 20;  // sequences
  const int64_t item = size_of(type_);
  int64_t tokens = 0;
  for (int64_t i = 0; i < num_sequences_; ++i) {
    if (i % kBlock == 0 && i > 0) {
      release(kIndexHeaderBytes + 4 * (i - kBlock), 4 * kBlock);
      release(kIndexHeaderBytes + 4 * num_sequences_ + 8 * (i - kBlock), 8 * kBlock);
    }
    const int64_t tokens_here = size(i);
    if (tokens_here < 0) {
      fail(name, kIndexHeaderBytes + 4 * i,
           fmt::format("sequence {} has the negative size {}", i, tokens_here));
    }
    if (pointer(i) != tokens * item) {
      fail(name, kIndexHeaderBytes + 4 * num_sequences_ + 8 * i,
           fmt::format("sequence {} points to byte {} of the .bin, but the sizes before it end at byte {}", i,
                       pointer(i), tokens * item));
    }
    tokens += tokens_here;  // at most 2^31 * (length / 12): fits
    if (tokens > bin_bytes / item) {
      fail(name, kIndexHeaderBytes + 4 * i,
           fmt::format("sequence {} ends behind the end of the .bin, which has {} bytes", i, bin_bytes),
           "the .bin is truncated, or belongs to another index");
    }
  }
  if (tokens * item != bin_bytes) {
    fail(name, kIndexHeaderBytes,
         fmt::format("its {} sequences hold {} bytes, but the .bin has {}", num_sequences_, tokens * item,
                     bin_bytes),
         "the .bin belongs to another index, or was written to after it");
  }
  num_tokens_ = tokens;
}

void TokenIndex::check_documents(const std::string& name) {
  const int64_t base = kIndexHeaderBytes + 12 * num_sequences_;
  int64_t previous = 0;
  constexpr int64_t kBlock = 4 << 20;
  for (int64_t i = 0; i < doc_idx_length_; ++i) {
    if (i % kBlock == 0 && i > 0) release(base + 8 * (i - kBlock), 8 * kBlock);
    const auto sequence = load<int64_t>(base + 8 * i);
    if ((i == 0 && sequence != 0) || sequence < previous || sequence > num_sequences_) {
      fail(name, base + 8 * i,
           fmt::format("doc_idx[{}] is {}, where a value from {} to {} must stand", i, sequence, previous,
                       i == 0 ? 0 : num_sequences_));
    }
    previous = sequence;
  }
  if (doc_idx_length_ > 0 && previous == num_sequences_) num_documents_ = doc_idx_length_ - 1;
}

}  // namespace shoal
