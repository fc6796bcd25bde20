// The tokenizer.json of the Hugging Face tokenizers library, version 1.0: the part that byte-level BPE uses.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "data/bpe/byte_alphabet.h"
#include "data/bpe/description.h"
#include "data/bpe/pattern.h"

namespace shoal {

namespace {

using Json = nlohmann::json;

constexpr int64_t kLargestId = 4'000'000;

// A value and the way to it, for messages.
struct Node {
  const Json* value;
  std::string path;
  const std::string* file;

  [[noreturn]] void fail(const std::string& what, const std::string& allowed = "",
                         const std::string& hint = "") const {
    std::string text = value == nullptr ? "" : value->dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    throw UserError(Problem{what, *file + ": " + (path.empty() ? "/" : path), text, allowed, hint});
  }
  bool is_null() const { return value == nullptr || value->is_null(); }
  Node at(const std::string& key) const {
    if (!value->is_object()) fail("must be an object");
    const auto found = value->find(key);
    return {found == value->end() ? nullptr : &*found, path + "/" + key, file};
  }
  Node at(size_t index) const { return {&(*value)[index], fmt::format("{}/{}", path, index), file}; }
  size_t array_size() const {
    if (value == nullptr || !value->is_array()) fail("must be an array");
    return value->size();
  }
  std::string string() const {
    if (value == nullptr || !value->is_string()) fail("must be a string");
    return value->get<std::string>();
  }
  bool boolean(bool fallback) const {
    if (is_null()) return fallback;
    if (!value->is_boolean()) fail("must be true or false");
    return value->get<bool>();
  }
  int32_t id() const {
    if (value == nullptr || !value->is_number_integer()) fail("must be a token id");
    // Read as wide as the number is: a huge unsigned one must not wrap around.
    const bool fits = value->is_number_unsigned() ? value->get<uint64_t>() <= uint64_t(kLargestId)
                                                  : value->get<int64_t>() >= 0;
    if (!fits) fail("is out of range", fmt::format("a token id from 0 to {}", kLargestId));
    return value->get<int32_t>();
  }
  void must_be_null(const char* why) const {
    if (!is_null()) fail("is not supported", "null", why);
  }
};

void read_normalizer(const Node& node, std::vector<NormalForm>& forms) {
  if (node.is_null()) return;
  const std::string type = node.at("type").string();
  if (type == "Sequence") {
    const Node parts = node.at("normalizers");
    for (size_t i = 0; i < parts.array_size(); ++i) read_normalizer(parts.at(i), forms);
  } else if (type == "NFC") {
    forms.push_back(NormalForm::nfc);
  } else if (type == "NFD") {
    forms.push_back(NormalForm::nfd);
  } else if (type == "NFKC") {
    forms.push_back(NormalForm::nfkc);
  } else if (type == "NFKD") {
    forms.push_back(NormalForm::nfkd);
  } else {
    node.at("type").fail("is not supported", "NFC, NFD, NFKC, NFKD, Sequence or no normalizer");
  }
}

void read_split(const Node& node, std::vector<SplitStep>& steps) {
  const Node pattern = node.at("pattern"), behavior = node.at("behavior");
  if (pattern.is_null()) pattern.fail("is missing");
  const bool invert = node.at("invert").boolean(false);
  const bool isolated = behavior.string() == "Isolated", removed = behavior.string() == "Removed" && invert;
  if (!isolated && !removed) {
    behavior.fail("is not supported", "Isolated, or Removed with invert true",
                  "other behaviours join pieces or lose text");
  }
  if (const Node literal = pattern.at("String"); !literal.is_null()) {
    if (!isolated || literal.string().empty())
      literal.fail("is not supported", "a text, with behavior Isolated");
    steps.push_back({SplitStep::Kind::literal, literal.string()});
    return;
  }
  const Node regex = pattern.at("Regex");
  try {
    Pattern{regex.string()};
  } catch (const UserError& error) {
    regex.fail(error.what());
  }
  steps.push_back({isolated ? SplitStep::Kind::regex : SplitStep::Kind::regex_only, regex.string()});
}

// Reads the steps in front of the byte level, and it; true when it has been seen.
bool read_pre_tokenizer(const Node& node, std::vector<SplitStep>& steps) {
  if (node.is_null()) return false;
  const Node type_node = node.at("type");
  const std::string type = type_node.string();
  if (type == "Sequence") {
    const Node parts = node.at("pretokenizers");
    bool done = false;
    for (size_t i = 0; i < parts.array_size(); ++i) {
      if (done) parts.at(i).fail("stands behind ByteLevel, where text is spelled in another alphabet");
      done = read_pre_tokenizer(parts.at(i), steps);
    }
    return done;
  }
  if (type == "ByteLevel") {
    if (node.at("add_prefix_space").boolean(true)) steps.push_back({SplitStep::Kind::prefix_space, ""});
    if (node.at("use_regex").boolean(true)) steps.push_back({SplitStep::Kind::gpt2, ""});
    return true;
  }
  if (type == "Split") {
    read_split(node, steps);
  } else if (type == "Digits") {
    const bool each = node.at("individual_digits").boolean(false);
    steps.push_back({each ? SplitStep::Kind::digits : SplitStep::Kind::digit_runs, ""});
  } else {
    type_node.fail("is not supported",
                   "ByteLevel, Split, Digits, or a Sequence of these that ends with ByteLevel");
  }
  return false;
}

void check_decoder(const Node& node) {
  if (node.is_null()) return;
  if (node.at("type").string() != "ByteLevel") node.at("type").fail("is not supported", "ByteLevel");
}

// These only add tokens at the ends, which this program never asks for.
void check_post_processor(const Node& node) {
  if (node.is_null()) return;
  const std::string type = node.at("type").string();
  if (type == "Sequence") {
    const Node parts = node.at("processors");
    for (size_t i = 0; i < parts.array_size(); ++i) check_post_processor(parts.at(i));
  } else if (type != "ByteLevel" && type != "TemplateProcessing" && type != "BertProcessing" &&
             type != "RobertaProcessing") {
    node.at("type").fail("is not supported", "ByteLevel, TemplateProcessing, Sequence");
  }
}

using Vocabulary = std::unordered_map<std::string, int32_t>;  // by spelling

Vocabulary read_vocabulary(const Node& node, BpeDescription& description) {
  if (node.is_null() || !node.value->is_object()) node.fail("must be an object of tokens and their ids");
  Vocabulary ids;
  std::unordered_map<int32_t, std::string> tokens;
  std::vector<bool> has_byte(256);
  for (size_t byte : {size_t{0xc0}, size_t{0xc1}})
    has_byte[byte] = true;  // these and those past 0xf4 are never part of UTF-8
  std::fill(has_byte.begin() + 0xf5, has_byte.end(), true);
  for (const auto& item : node.value->items()) {
    const Node entry{&item.value(), node.path + "/" + item.key(), node.file};
    const int32_t id = entry.id();
    if (const auto [found, is_new] = tokens.emplace(id, item.key()); !is_new) {
      entry.fail(fmt::format("the id is also that of {}", found->second));
    }
    if (!ids.emplace(item.key(), id).second) entry.fail("the token is given twice");
    const auto bytes = bytes_of_spelling(item.key());
    if (bytes && bytes->size() == 1) has_byte[static_cast<unsigned char>((*bytes)[0])] = true;
    description.vocab.push_back({bytes.value_or(item.key()), id});
  }
  const auto missing = std::find(has_byte.begin(), has_byte.end(), false);
  if (missing != has_byte.end()) {
    throw UserError(Problem{fmt::format("has no token for the byte 0x{:02x}", missing - has_byte.begin()),
                            *node.file + ": " + node.path, "", "a token for each byte of UTF-8",
                            "without one, text with that byte would be lost"});
  }
  return ids;
}

void read_merges(const Node& node, const Vocabulary& ids, BpeDescription& description) {
  const size_t count = node.array_size();
  description.merges.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const Node merge = node.at(i);
    std::string left, right;
    if (merge.value->is_array()) {
      if (merge.array_size() != 2) merge.fail("must be two tokens");
      left = merge.at(size_t(0)).string();
      right = merge.at(1).string();
    } else {
      const std::string pair = merge.string();
      const size_t space = pair.find(' ');
      if (space == std::string::npos || pair.find(' ', space + 1) != std::string::npos) {
        merge.fail("must be two tokens with a space between them");
      }
      left = pair.substr(0, space);
      right = pair.substr(space + 1);
    }
    const auto id_of = [&](const std::string& token) {
      const auto found = ids.find(token);
      if (found == ids.end()) merge.fail(fmt::format("the token {} is not in the vocabulary", token));
      return found->second;
    };
    description.merges.push_back({id_of(left), id_of(right), id_of(left + right)});
  }
}

void read_model(const Node& node, BpeDescription& description, Vocabulary& ids) {
  if (node.is_null()) node.fail("is missing");
  if (const Node type = node.at("type"); !type.is_null() && type.string() != "BPE") {
    type.fail("is not supported", "BPE", "only byte-level BPE tokenizers are read");
  }
  if (const Node dropout = node.at("dropout"); !dropout.is_null() && *dropout.value != 0) {
    dropout.fail("is not supported", "null", "merges left out at random would give other ids each time");
  }
  for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (const Node text = node.at(affix); !text.is_null() && !text.string().empty()) {
      text.fail("is not supported", "null", "byte-level vocabularies mark words by their leading space");
    }
  }
  if (node.at("byte_fallback").boolean(false)) {
    node.at("byte_fallback")
        .fail("is not supported", "false", "this is a SentencePiece vocabulary, not a byte-level one");
  }
  description.ignore_merges = node.at("ignore_merges").boolean(false);
  ids = read_vocabulary(node.at("vocab"), description);
  read_merges(node.at("merges"), ids, description);
}

void read_added_tokens(const Node& node, const Vocabulary& ids, BpeDescription& description) {
  if (node.is_null()) return;
  std::unordered_map<int32_t, std::string> known;
  for (const auto& [token, id] : ids) known.emplace(id, token);
  std::unordered_set<std::string> contents;
  for (size_t i = 0; i < node.array_size(); ++i) {
    const Node entry = node.at(i);
    AddedToken token;
    token.content = entry.at("content").string();
    token.id = entry.at("id").id();
    token.special = entry.at("special").boolean(false);
    token.normalized = entry.at("normalized").boolean(!token.special);
    token.single_word = entry.at("single_word").boolean(false);
    token.lstrip = entry.at("lstrip").boolean(false);
    token.rstrip = entry.at("rstrip").boolean(false);
    if (token.content.empty()) entry.at("content").fail("must not be empty");
    if (!contents.insert(token.content).second) entry.at("content").fail("is given twice");
    if (const auto found = ids.find(token.content); found != ids.end() && found->second != token.id) {
      entry.at("id").fail(fmt::format("the vocabulary gives this token the id {}", found->second));
    }
    if (const auto [found, is_new] = known.emplace(token.id, token.content);
        !is_new && found->second != token.content) {
      entry.at("id").fail(fmt::format("the id is also that of {}", found->second));
    }
    description.added.push_back(std::move(token));
  }
}

}  // namespace

BpeDescription parse_tokenizer_json(std::string_view text, const std::string& name) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw UserError(Problem{"is not JSON", fmt::format("{}: byte {}", name, error.byte), "", "",
                            "a tokenizer.json of the Hugging Face tokenizers library is expected"});
  } catch (const Json::exception&) {  // a number past every range
    throw UserError(Problem{"is not JSON", name, "", "",
                            "a tokenizer.json of the Hugging Face tokenizers library is expected"});
  }
  const Node root{&json, "", &name};
  BpeDescription description;
  Vocabulary ids;
  root.at("truncation").must_be_null("texts would be cut off");
  root.at("padding").must_be_null("texts would be filled up");
  read_model(root.at("model"), description, ids);
  read_normalizer(root.at("normalizer"), description.normal_forms);
  const Node pre_tokenizer = root.at("pre_tokenizer");
  if (!read_pre_tokenizer(pre_tokenizer, description.steps)) {
    pre_tokenizer.fail("has no ByteLevel", "ByteLevel, or a Sequence that ends with it",
                       "only byte-level BPE tokenizers are read");
  }
  check_post_processor(root.at("post_processor"));
  check_decoder(root.at("decoder"));
  read_added_tokens(root.at("added_tokens"), ids, description);
  return description;
}

}  // namespace shoal
