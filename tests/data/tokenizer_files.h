// The tokenizers that the tests use, from the compressed files in tests/data/tokenizers.
#pragma once

#include <zstd.h>

#include <nlohmann/json.hpp>
#include <string>

#include "data/bpe/byte_alphabet.h"
#include "data/files.h"
#include "data/utf8.h"

inline std::string tokenizer_file(const std::string& name) {
  const std::string compressed = read_file(std::string(SHOAL_SOURCE_DIR) + "/tests/data/tokenizers/" + name);
  std::string content(ZSTD_getFrameContentSize(compressed.data(), compressed.size()), '\0');
  ZSTD_decompress(content.data(), content.size(), compressed.data(), compressed.size());
  return content;
}

// GPT-2's tokenizer.json, from vocab.bpe.
inline std::string gpt2_tokenizer_json() {
  nlohmann::json json, level = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}};
  nlohmann::json &model = json["model"], &vocab = model["vocab"];
  int id = 0;
  for (const bool printable : {true, false}) {
    for (int byte = 0; byte < 256; ++byte) {
      const char32_t c = shoal::spelling_of_byte(static_cast<unsigned char>(byte));
      std::string spelling;
      shoal::append_utf8(spelling, c);
      if ((c < 256) == printable) vocab[spelling] = id++;
    }
  }
  const std::string merges = tokenizer_file("gpt2_vocab.bpe.zst");
  for (size_t at = merges.find('\n') + 1; at < merges.size();) {
    const size_t end = merges.find('\n', at);
    const std::string line = merges.substr(at, end - at);
    const size_t space = line.find(' ');
    model["merges"].push_back({line.substr(0, space), line.substr(space + 1)});
    vocab[line.substr(0, space) + line.substr(space + 1)] = id++;
    at = end + 1;
  }
  vocab["<|endoftext|>"] = id;
  json["added_tokens"] = {
      {{"id", id}, {"content", "<|endoftext|>"}, {"special", true}, {"normalized", false}}};
  json["normalizer"] = nullptr;
  json["pre_tokenizer"] = json["decoder"] = level;
  return json.dump();
}
