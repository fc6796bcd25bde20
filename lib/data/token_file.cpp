#include "data/token_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/check.h"
#include "base/error.h"

namespace shoal {

namespace {

// Copies ids of type T and returns the index of the first one that is no token id, or -1.
template <typename T>
int64_t convert(const std::byte* from, int64_t count, int32_t* out) {
  bool bad = false;
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + size_t(i) * sizeof(T), sizeof(T));
    if constexpr (std::is_signed_v<T>) bad |= value < 0;
    if constexpr (sizeof(T) > 4) bad |= value > INT32_MAX;
    out[i] = int32_t(value);
  }
  if (!bad) return -1;
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + size_t(i) * sizeof(T), sizeof(T));
    if (int64_t(value) < 0 || int64_t(value) > INT32_MAX) return i;
  }
  return -1;
}

int64_t convert(TokenType type, const std::byte* from, int64_t count, int32_t* out) {
  switch (type) {
    case TokenType::u8:
      return convert<uint8_t>(from, count, out);
    case TokenType::i8:
      return convert<int8_t>(from, count, out);
    case TokenType::i16:
      return convert<int16_t>(from, count, out);
    case TokenType::u16:
      return convert<uint16_t>(from, count, out);
    case TokenType::i32:
      return convert<int32_t>(from, count, out);
    case TokenType::i64:
      return convert<int64_t>(from, count, out);
  }
  return 0;
}

std::string with_extension(const std::string& prefix, const char* extension) {
  const std::string path = prefix + extension;
  if (!std::filesystem::exists(path)) {
    const bool has_suffix = prefix.ends_with(".bin") || prefix.ends_with(".idx");
    throw UserError(Problem{"does not exist", path, "", "the prefix of a .bin/.idx pair",
                            has_suffix ? "leave .bin or .idx away: " + prefix.substr(0, prefix.size() - 4)
                                       : "make it with `shoal data tokenize`"});
  }
  return path;
}

}  // namespace

TokenFile::TokenFile(const std::string& prefix)
    : prefix_(prefix),
      index_file_(with_extension(prefix, ".idx")),
      bin_file_(with_extension(prefix, ".bin")) {
  index_.emplace(index_file_.bytes(), index_file_.path(), int64_t(bin_file_.bytes().size()));
  const std::string meta_path = prefix + ".meta.json";
  if (std::ifstream file(meta_path, std::ios::binary); file) {
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    meta_ = parse_token_file_meta(text, meta_path);
    check_meta();
    verified_ = std::make_unique<std::atomic<bool>[]>(meta_->chunk_hashes.size());
  }
}

void TokenFile::check_meta() const {
  const auto fail = [&](const std::string& what) {
    throw UserError(
        Problem{what, prefix_ + ".meta.json", "", "",
                "the files were damaged, or another program rewrote the pair: then delete the .meta.json"});
  };
  const auto bin_bytes = int64_t(bin_file_.bytes().size());
  const auto chunks = (bin_bytes + meta_->chunk_bytes - 1) / meta_->chunk_bytes;
  if (meta_->documents != num_documents() || meta_->tokens != num_tokens()) {
    fail(fmt::format("states {} documents and {} tokens, but the index has {} and {}", meta_->documents,
                     meta_->tokens, num_documents(), num_tokens()));
  }
  if (int64_t(meta_->chunk_hashes.size()) != chunks) {
    fail(fmt::format("has {} hashes for {} chunks", meta_->chunk_hashes.size(), chunks));
  }
  if (content_hash(index_file_.bytes().data(), index_file_.bytes().size()) != meta_->index_hash) {
    fail(fmt::format("its hash of {} does not match the file", index_file_.path()));
  }
}

void TokenFile::verify(int64_t first, int64_t count) const {
  SHOAL_CHECK(first >= 0 && count >= 0 && first + count <= num_tokens());
  if (!meta_ || count == 0) return;
  const int64_t item = size_of(type()), chunk = meta_->chunk_bytes;
  const auto bytes = bin_file_.bytes();
  for (int64_t c = first * item / chunk; c <= ((first + count) * item - 1) / chunk; ++c) {
    if (verified_[size_t(c)].load(std::memory_order_relaxed)) continue;
    const auto begin = size_t(c * chunk);
    const size_t length = std::min(size_t(chunk), bytes.size() - begin);
    if (content_hash(bytes.data() + begin, length) != meta_->chunk_hashes[size_t(c)]) {
      throw UserError(
          Problem{fmt::format("bytes {} to {} are not those that were written", begin, begin + length),
                  bin_file_.path(), "", "",
                  "the file is damaged: tokenise the corpus again (if another program rewrote the pair, "
                  "delete the .meta.json)"});
    }
    verified_[size_t(c)].store(true, std::memory_order_relaxed);
  }
}

void TokenFile::read(int64_t first, int64_t count, int32_t* out) const {
  verify(first, count);
  const int64_t item = size_of(type());
  const std::byte* from = bin_file_.bytes().data() + first * item;
  if (const int64_t bad = convert(type(), from, count, out); bad >= 0) {
    throw UserError(Problem{"has a number that is no token id",
                            fmt::format("{}: byte {}", bin_file_.path(), (first + bad) * item), "", "", ""});
  }
}

}  // namespace shoal
