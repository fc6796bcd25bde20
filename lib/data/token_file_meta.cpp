#include "data/token_file_meta.h"

#include <xxhash.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace shoal {

namespace {

using Json = nlohmann::ordered_json;  // the hash of the object depends on the order of its keys

constexpr int kHexDigits = 16;
constexpr const char* kOwnHash = "hash_of_the_above";

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw UserError(Problem{what, name, "", "", "tokenise the corpus again"});
}

uint64_t parse_hash(std::string_view digits, const std::string& name) {
  uint64_t value = 0;
  for (char c : digits) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) fail(name, "has a hash that is not hexadecimal");
    value = value * 16 + uint64_t(digit);
  }
  return value;
}

std::string hash_of(const Json& object) {
  const std::string text = object.dump();
  return fmt::format("{:016x}", content_hash(text.data(), text.size()));
}

template <typename T>
T get(const Json& object, const char* key, const std::string& name) {
  const auto found = object.find(key);
  if (found == object.end()) fail(name, fmt::format("lacks the key {}", key));
  try {
    return found->get<T>();
  } catch (const Json::exception&) {
    fail(name, fmt::format("has a value of the wrong type at {}", key));
  }
}

}  // namespace

uint64_t content_hash(const void* data, size_t bytes) {
  return XXH3_64bits(data, bytes);
}

std::string to_json(const TokenFileMeta& meta) {
  std::string hashes;
  hashes.reserve(meta.chunk_hashes.size() * kHexDigits);
  for (uint64_t hash : meta.chunk_hashes) fmt::format_to(std::back_inserter(hashes), "{:016x}", hash);
  Json object;
  object["format"] = "shoal-tokens";
  object["version"] = 1;
  object["documents"] = meta.documents;
  object["tokens"] = meta.tokens;
  object["vocab_size"] = meta.vocab_size;
  object["tokenizer"] = meta.tokenizer;
  object["end_of_document"] = meta.end_of_document;
  object["hash"] = "xxh3-64";
  object["idx_hash"] = fmt::format("{:016x}", meta.index_hash);
  object["bin_chunk_bytes"] = meta.chunk_bytes;
  object["bin_chunk_hashes"] = hashes;
  object[kOwnHash] = hash_of(object);
  return object.dump(2) + "\n";
}

TokenFileMeta parse_token_file_meta(const std::string& text, const std::string& name) {
  auto object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) fail(name, "is not a JSON object");
  if (get<std::string>(object, "format", name) != "shoal-tokens" ||
      get<int64_t>(object, "version", name) != 1) {
    fail(name, "is not a description of tokens of version 1");
  }
  const auto own_hash = get<std::string>(object, kOwnHash, name);
  object.erase(kOwnHash);
  if (hash_of(object) != own_hash) fail(name, "was changed: its own hash does not match");
  TokenFileMeta meta;
  meta.documents = get<int64_t>(object, "documents", name);
  meta.tokens = get<int64_t>(object, "tokens", name);
  meta.vocab_size = get<int64_t>(object, "vocab_size", name);
  meta.tokenizer = get<std::string>(object, "tokenizer", name);
  meta.end_of_document = get<int64_t>(object, "end_of_document", name);
  meta.chunk_bytes = get<int64_t>(object, "bin_chunk_bytes", name);
  if (meta.chunk_bytes < 1) fail(name, "has a bin_chunk_bytes below 1");
  meta.index_hash = parse_hash(get<std::string>(object, "idx_hash", name), name);
  const auto hashes = get<std::string>(object, "bin_chunk_hashes", name);
  if (hashes.size() % kHexDigits != 0) fail(name, "has a broken list of hashes");
  for (size_t i = 0; i < hashes.size(); i += kHexDigits) {
    meta.chunk_hashes.push_back(parse_hash(std::string_view(hashes).substr(i, kHexDigits), name));
  }
  return meta;
}

}  // namespace shoal
