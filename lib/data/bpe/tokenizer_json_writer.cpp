#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/check.h"
#include "base/error.h"
#include "data/bpe/byte_alphabet.h"
#include "data/bpe/description.h"

namespace shoal {

namespace {

using Json = nlohmann::ordered_json;

std::string quoted(const std::string& text) {
  return Json(text).dump();
}

// Every spelling, by id: added tokens are written as they are, the others in the byte alphabet.
std::unordered_map<int32_t, std::string> spellings_of(const BpeDescription& description) {
  std::unordered_map<int32_t, std::string> spellings;
  for (const AddedToken& token : description.added) spellings[token.id] = token.content;
  for (const auto& token : description.vocab) spellings.emplace(token.id, spell_bytes(token.bytes));
  return spellings;
}

}  // namespace

std::string to_tokenizer_json(const BpeDescription& description) {
  SHOAL_CHECK(description.steps.size() == 1 && description.steps[0].kind == SplitStep::Kind::gpt2);
  const Json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  Json added = Json::array();
  for (const AddedToken& token : description.added) {
    added.push_back({{"id", token.id},
                     {"content", token.content},
                     {"single_word", token.single_word},
                     {"lstrip", token.lstrip},
                     {"rstrip", token.rstrip},
                     {"normalized", token.normalized},
                     {"special", token.special}});
  }
  Json head;
  head["version"] = "1.0";
  head["truncation"] = nullptr;
  head["padding"] = nullptr;
  head["added_tokens"] = std::move(added);
  head["normalizer"] = nullptr;
  if (!description.normal_forms.empty()) head["normalizer"] = {{"type", "NFC"}};
  for (const char* part : {"pre_tokenizer", "post_processor", "decoder"}) head[part] = byte_level;

  // The long lists are written by hand: a line each, in the order of ids and ranks.
  std::string text = head.dump(2);
  text.resize(text.rfind("\n}"));
  text +=
      ",\n  \"model\": {\n    \"type\": \"BPE\",\n    \"dropout\": null,\n    \"unk_token\": null,\n"
      "    \"continuing_subword_prefix\": null,\n    \"end_of_word_suffix\": null,\n    \"fuse_unk\": "
      "false,\n"
      "    \"byte_fallback\": false,\n    \"ignore_merges\": false,\n    \"vocab\": {";
  const auto spellings = spellings_of(description);
  const char* separator = "\n";
  for (const auto& token : description.vocab) {
    text += fmt::format("{}      {}: {}", separator, quoted(spellings.at(token.id)), token.id);
    separator = ",\n";
  }
  text += "\n    },\n    \"merges\": [";
  separator = "\n";
  for (const auto& merge : description.merges) {
    text += fmt::format("{}      [{}, {}]", separator, quoted(spellings.at(merge.left)),
                        quoted(spellings.at(merge.right)));
    separator = ",\n";
  }
  return text + "\n    ]\n  }\n}\n";
}

}  // namespace shoal
