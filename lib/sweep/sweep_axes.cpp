#include "sweep/sweep_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/philox.h"
#include "base/text.h"
#include "spec/flow_text.h"
#include "spec/key_table.h"
#include "spec/scalar.h"

namespace shoal {
namespace {

class SweepReader {
 public:
  explicit SweepReader(std::string file) : file_(std::move(file)) {}

  SweepAxes read(const YamlNode& section) {
    if (section.kind != YamlNode::Kind::map || section.entries.empty())
      fail(section, "sweep is an empty section", parts);
    for (const auto& [name, value] : section.entries) part(name, value);
    if (result_.axes.empty() && !result_.cooldowns) fail(section, "the sweep varies nothing", parts);
    return std::move(result_);
  }

 private:
  static constexpr const char* parts = "product, pairs, shapes, lr, random, seeds, cooldowns, max_runs";

  [[noreturn]] void fail(const YamlNode& at, const std::string& what, const std::string& allowed = "",
                         const std::string& hint = "") const {
    throw UserError(Problem{what, place(at), "", allowed, hint});
  }
  std::string place(const YamlNode& at) const { return fmt::format("{}:{}:{}", file_, at.line, at.column); }

  void part(const YamlNode& name, const YamlNode& value) {
    if (name.text == "product") {
      for (const auto& [key, list] : value.entries) result_.axes.push_back(axis(key, list));
      if (value.entries.empty())
        fail(name, "the product is empty", "keys with lists: optimizer.lr: [1e-3, 3e-3]");
    } else if (name.text == "pairs") {
      pairs(name, value);
    } else if (name.text == "shapes") {
      shapes(name, value);
    } else if (name.text == "lr") {
      rate(name, value);
    } else if (name.text == "random") {
      random(name, value);
    } else if (name.text == "seeds") {
      SweepAxis seeds;
      for (const YamlNode& item : items(name, value)) {
        if (!parse_unsigned(item.text)) fail(item, "no seed: " + item.text, "an integer");
        seeds.push_back({"seed" + item.text, {{"run.seed", item.text}}});
      }
      result_.axes.push_back(std::move(seeds));
    } else if (name.text == "cooldowns") {
      cooldowns(name, value);
    } else if (name.text == "max_runs") {
      result_.max_runs = positive(value);
    } else {
      fail(name, "unknown key sweep." + name.text, parts);
    }
  }

  const std::vector<YamlNode>& items(const YamlNode& name, const YamlNode& list) const {
    if (list.kind != YamlNode::Kind::list || list.items.empty())
      fail(name, fmt::format("{} has no values", name.text), "a list of one or more");
    return list.items;
  }
  const YamlNode& entry(const YamlNode& at, const YamlNode& map, const std::string& name) const {
    for (const auto& [key, value] : map.entries) {
      if (key.text == name) return value;
    }
    fail(at, fmt::format("{} lacks {}", at.text, name));
  }
  int64_t positive(const YamlNode& node) const {
    const auto value = parse_integer(node.text);
    if (!value || *value < 1) fail(node, "wrong value " + node.text, "an integer, 1 or more");
    return *value;
  }
  double number(const YamlNode& node) const {
    const auto value = parse_number(node.text);
    if (!value) fail(node, "wrong value " + node.text, "a number");
    return *value;
  }
  void check_key(const YamlNode& key) const {
    const Key* known = find_key(key.text);
    if (known == nullptr) {
      const std::string near = likely_key(key.text);
      fail(key, "unknown key " + key.text, "a key of a run spec",
           near.empty() ? "" : "did you mean " + near + "?");
    }
    if (known->section() == "run" && known->name() != "seed" && known->name() != "steps")
      fail(key, key.text + " cannot be varied", "",
           "names and folders of the runs follow from what is varied");
  }
  static std::string label(const std::string& key, const std::string& value) {
    std::string text = key.substr(key.rfind('.') + 1) + value;
    for (char& c : text) {
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-' && c != '_') c = '_';
    }
    return text;
  }

  SweepAxis axis(const YamlNode& key, const YamlNode& list) const {
    check_key(key);
    SweepAxis points;
    for (const YamlNode& item : items(key, list)) {
      const std::string value = flow_text(item);
      points.push_back({label(key.text, value), {{key.text, value}}});
    }
    return points;
  }

  void pairs(const YamlNode& name, const YamlNode& map) {
    SweepAxis joined;
    for (const auto& [key, list] : map.entries) {
      const SweepAxis one = axis(key, list);
      if (joined.empty()) joined.resize(one.size());
      if (one.size() != joined.size())
        fail(key,
             fmt::format("{} has {} values, the keys before it have {}", key.text, one.size(), joined.size()),
             "lists of one length in pairs");
      for (size_t i = 0; i < one.size(); ++i) {
        joined[i].label += (joined[i].label.empty() ? "" : "-") + one[i].label;
        joined[i].values.push_back(one[i].values.front());
      }
    }
    if (joined.empty()) fail(name, "pairs is empty", "keys with lists of one length");
    result_.axes.push_back(std::move(joined));
  }

  void shapes(const YamlNode& name, const YamlNode& map) {
    const int64_t head_dim = positive(entry(name, map, "head_dim"));
    const YamlNode& window = entry(name, map, "params");
    if (window.items.size() != 2) fail(window, "params is a window", "[lowest, highest]");
    SweepAxis points;
    for (const YamlNode& width : items(name, entry(name, map, "width"))) {
      for (const YamlNode& depth : items(name, entry(name, map, "depth"))) {
        const int64_t w = positive(width), d = positive(depth);
        if (w % head_dim != 0)
          fail(width, fmt::format("width {} is not a multiple of head_dim {}", w, head_dim));
        points.push_back({fmt::format("w{}-d{}", w, d),
                          {{"model.hidden_size", fmt::format("{}", w)},
                           {"model.num_layers", fmt::format("{}", d)},
                           {"model.num_attention_heads", fmt::format("{}", w / head_dim)}}});
      }
    }
    result_.window = {result_.axes.size(), number(window.items[0]), number(window.items[1]), place(window)};
    result_.axes.push_back(std::move(points));
  }

  void rate(const YamlNode& name, const YamlNode& map) {
    result_.lr_rule = entry(name, map, "rule").text;
    result_.lr_effective = number(entry(name, map, "effective"));
    if (result_.lr_rule != "gemstones" && result_.lr_rule != "mup")
      fail(name, "unknown rule " + result_.lr_rule,
           "gemstones (effective / (width sqrt(depth))) or mup (effective / width)");
  }

  void random(const YamlNode& name, const YamlNode& map) {
    const int64_t count = positive(entry(name, map, "count"));
    const Philox draws(static_cast<uint64_t>(positive(entry(name, map, "seed"))), "sweep");
    const YamlNode& ranges = entry(name, map, "ranges");
    if (ranges.entries.empty())
      fail(name, "random has no ranges", "ranges: {optimizer.lr: [1e-4, 1e-2, log]}");
    SweepAxis points(static_cast<size_t>(count));
    uint64_t draw = 0;
    for (size_t i = 0; i < points.size(); ++i) {
      points[i].label = fmt::format("random{:03}", i);
      for (const auto& [key, range] : ranges.entries) {
        check_key(key);
        if (range.items.size() < 2) fail(key, "a range is [low, high] or [low, high, log]");
        double low = number(range.items[0]), high = number(range.items[1]);
        const bool log = range.items.size() == 3 && range.items[2].text == "log";
        if (!(low < high) || (log && low <= 0)) fail(key, "not a range", "low below high; above 0 with log");
        if (log) low = std::log(low), high = std::log(high);
        const double value = low + (high - low) * draws.uniform(draw++);
        points[i].values.emplace_back(key.text, fmt::format("{:.5g}", log ? std::exp(value) : value));
      }
    }
    result_.axes.push_back(std::move(points));
  }

  void cooldowns(const YamlNode& name, const YamlNode& map) {
    SweepCooldowns found;
    for (const YamlNode& mark : items(name, entry(name, map, "marks"))) found.marks.push_back(positive(mark));
    for (const auto& [key, value] : map.entries) {
      if (key.text == "length") found.length = number(value);
    }
    if (!(found.length > 0))
      fail(name, "a cooldown of no length", "length: a number above 0, of the steps before it");
    result_.cooldowns = found;
  }

  std::string file_;
  SweepAxes result_;
};

}  // namespace

SweepAxes read_sweep(const YamlNode& section, const std::string& file) {
  return SweepReader(file).read(section);
}

}  // namespace shoal
