#include "data/token_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/check.h"
#include "base/error.h"
#include "spec/token_files.h"

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

[[noreturn]] void missing(const std::string& prefix, const char* extension) {
  const bool has_suffix = prefix.ends_with(".bin") || prefix.ends_with(".idx");
  throw UserError(Problem{"does not exist", prefix + extension, "", "the prefix of a .bin/.idx pair",
                          has_suffix ? "leave .bin or .idx away: " + prefix.substr(0, prefix.size() - 4)
                                     : "make it with `shoal data tokenize`"});
}

std::string index_of(const std::string& prefix) {
  const std::string path = prefix + ".idx";
  if (!std::filesystem::exists(path)) missing(prefix, ".idx");
  return path;
}

std::vector<std::string> bins_of(const std::string& prefix) {
  std::vector<std::string> files = bin_files_of(prefix);
  if (files.empty()) missing(prefix, ".bin");
  return files;
}

}  // namespace

TokenFile::TokenFile(const std::string& prefix, IndexCheck check)
    : prefix_(prefix), index_file_(index_of(prefix)), bin_(bins_of(prefix)) {
  index_.emplace(index_file_, bin_.size(), check);
  const std::string meta_path = prefix + ".meta.json";
  if (std::ifstream file(meta_path, std::ios::binary); file) {
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    meta_ = parse_token_file_meta(text, meta_path);
    check_meta(check);
    verified_ = std::make_unique<std::atomic<bool>[]>(meta_->chunk_hashes.size());
  }
}

void TokenFile::check_meta(IndexCheck check) const {
  const auto fail = [&](const std::string& what) {
    throw UserError(
        Problem{what, prefix_ + ".meta.json", "", "",
                "the files were damaged, or another program rewrote the pair: then delete the .meta.json"});
  };
  const auto chunks = (bin_.size() + meta_->chunk_bytes - 1) / meta_->chunk_bytes;
  if (meta_->documents != num_documents() || meta_->tokens != num_tokens()) {
    fail(fmt::format("states {} documents and {} tokens, but the index has {} and {}", meta_->documents,
                     meta_->tokens, num_documents(), num_tokens()));
  }
  if (int64_t(meta_->chunk_hashes.size()) != chunks) {
    fail(fmt::format("has {} hashes for {} chunks", meta_->chunk_hashes.size(), chunks));
  }
  if (check == IndexCheck::ends) return;
  if (content_hash(index_file_.bytes().data(), index_file_.bytes().size()) != meta_->index_hash) {
    fail(fmt::format("its hash of {} does not match the file", index_file_.path()));
  }
}

void TokenFile::verify(int64_t first, int64_t count) const {
  SHOAL_CHECK(first >= 0 && count >= 0 && first + count <= num_tokens());
  if (!meta_ || count == 0) return;
  const int64_t item = size_of(type()), chunk = meta_->chunk_bytes;
  std::vector<std::byte> scratch;
  for (int64_t c = first * item / chunk; c <= ((first + count) * item - 1) / chunk; ++c) {
    if (verified_[size_t(c)].load(std::memory_order_relaxed)) continue;
    const int64_t begin = c * chunk, length = std::min(chunk, bin_.size() - begin);
    if (content_hash(bin_.at(begin, length, scratch).data(), size_t(length)) !=
        meta_->chunk_hashes[size_t(c)]) {
      throw UserError(
          Problem{fmt::format("bytes {} to {} are not those that were written", begin, begin + length),
                  prefix_ + ".bin", "", "",
                  "the file is damaged: tokenise the corpus again (if another program rewrote the pair, "
                  "delete the .meta.json)"});
    }
    verified_[size_t(c)].store(true, std::memory_order_relaxed);
  }
}

void TokenFile::read(int64_t first, int64_t count, int32_t* out) const {
  verify(first, count);
  const int64_t item = size_of(type());
  std::vector<std::byte> scratch;
  const std::byte* from = bin_.at(first * item, count * item, scratch).data();
  if (const int64_t bad = convert(type(), from, count, out); bad >= 0) {
    throw UserError(
        Problem{"has a number that is no token id", bin_.place_of((first + bad) * item), "", "", ""});
  }
}

}  // namespace shoal
