#include "spec/key_table.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "spec/keys.h"

namespace shoal {
namespace {

std::vector<Key> whole_table() {
  std::vector<Key> table;
  // In the order of the sections below.
  std::vector<Key> run = run_keys(), model = model_keys(), training = training_keys();
  const auto take = [&table](const std::vector<Key>& keys, const std::string& section) {
    for (const Key& key : keys) {
      const std::string top = key.path.substr(0, key.path.find('.'));
      if (top == section) table.push_back(key);
    }
  };
  take(run, "version");
  take(run, "run");
  take(model, "model");
  for (const char* section : {"data", "batch"}) take(run, section);
  table.insert(table.end(), training.begin(), training.end());
  return table;
}

template <typename T>
constexpr size_t kIndex = Field(static_cast<T*>(nullptr)).index();

// "a number above 0", "an integer from 1 to 8", "a number from 0 to below 1, or -1"
std::string interval_text(const Allowed& a, const std::string& noun) {
  const bool below = std::isfinite(a.low), top = std::isfinite(a.high);
  std::string text = noun;
  if (below && top && a.low == a.high) {
    text = fmt::format("{}", a.low);
  } else if (below && top) {
    text += fmt::format(" {} {} {} {}", a.low_open ? "above" : "from", a.low, a.high_open ? "to below" : "to",
                        a.high);
  } else if (below) {
    text += a.low_open ? fmt::format(" above {}", a.low) : fmt::format(", {} or more", a.low);
  } else if (top) {
    text += a.high_open ? fmt::format(" below {}", a.high) : fmt::format(", {} or less", a.high);
  }
  if (a.also) text += fmt::format(", or {}", *a.also);
  return text;
}

}  // namespace

bool Allowed::contains(double value) const {
  if (also && value == *also) return true;
  return (low_open ? value > low : value >= low) && (high_open ? value < high : value <= high);
}

std::string Key::section() const {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

std::string Key::name() const {
  return path.substr(path.rfind('.') + 1);
}

std::string Key::type_name() const {
  RunSpec spec;
  switch (field(spec).index()) {
    case kIndex<int64_t>:
    case kIndex<uint64_t>:
      return "integer";
    case kIndex<double>:
      return "number";
    case kIndex<bool>:
      return "true or false";
    case kIndex<std::optional<bool>>:
      return "true, false or auto";
    case kIndex<std::array<double, 2>>:
      return "two numbers";
    case kIndex<std::vector<DataSource>>:
      return "list of sources";
    default:
      return allowed.choices.empty() ? "text" : "choice";
  }
}

std::string Key::allowed_text() const {
  RunSpec spec;
  switch (field(spec).index()) {
    case kIndex<int64_t>:
    case kIndex<uint64_t>:
      return interval_text(allowed, "an integer");
    case kIndex<double>:
      return interval_text(allowed, "a number");
    case kIndex<bool>:
      return "true or false";
    case kIndex<std::optional<bool>>:
      return "true, false, or auto for what the family uses";
    case kIndex<std::array<double, 2>>:
      return "a list of " + interval_text(allowed, "two numbers, each");
    case kIndex<std::vector<DataSource>>:
      return "a list of {path: PREFIX, weight: NUMBER}, or of prefixes";
    default:
      break;
  }
  if (allowed.choices.empty()) return "any text";
  std::vector<std::string> choices = allowed.choices;
  for (std::string& choice : choices) {
    if (choice.empty()) choice = "auto";
  }
  return join_choices(choices);
}

const std::vector<Key>& key_table() {
  static const std::vector<Key> table = whole_table();
  return table;
}

const std::vector<Section>& section_table() {
  static const std::vector<Section> table = {
      {"run", "The run as a whole: its folder, length, seed, and how it starts and stops."},
      {"model", "The shape and the switches of the decoder."},
      {"data", "What is read, and in which order."},
      {"batch", "How many sequences a step and a pass hold."},
      {"loss", "What is minimised."},
      {"loss.goldfish", "The goldfish loss, which leaves some tokens out so that they are not memorised."},
      {"optimizer", "How the weights are changed."},
      {"optimizer.jorge", "Jorge, which preconditions matrices without inverting any."},
      {"schedule", "The learning rate over the steps."},
      {"precision", "Number types, and memory against time."},
      {"parallel", "The grid of ranks."},
      {"checkpoint", "What is saved and what is kept."},
      {"eval", "Validation during training."},
      {"log", "What the run says while it goes."},
      {"guard", "What happens when the loss diverges."},
      {"trace", "A record of what each rank computes and sends, and when."},
  };
  return table;
}

const Key* find_key(const std::string& path) {
  const std::string wanted = underscored(path);
  for (const Key& key : key_table()) {
    if (key.path == wanted) return &key;
  }
  return nullptr;
}

std::vector<std::string> keys_of(const std::string& section) {
  std::vector<std::string> paths;
  for (const Key& key : key_table()) {
    if (section.empty() || key.path.rfind(section + ".", 0) == 0) paths.push_back(key.path);
  }
  return paths;
}

}  // namespace shoal
