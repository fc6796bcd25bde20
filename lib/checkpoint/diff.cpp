#include "checkpoint/diff.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "base/error.h"

namespace shoal {
namespace {

using Values = std::map<std::string, std::string>;

// The scalars of a resolved spec by key path. It is read line by line, so that a spec of another version is,
// too.
Values values_of(const std::string& yaml) {
  struct Open {
    size_t indent;
    std::string path;
  };
  std::vector<Open> open;
  std::map<std::string, int> items;
  Values values;
  std::istringstream lines(yaml);
  for (std::string line; std::getline(lines, line);) {
    size_t at = line.find_first_not_of(' ');
    if (at == std::string::npos || line[at] == '#') continue;
    while (!open.empty() && open.back().indent >= at) open.pop_back();
    std::string path = open.empty() ? "" : open.back().path;
    if (line.compare(at, 2, "- ") == 0) {
      const int item = items[path]++;
      path += fmt::format("[{}]", item);
      open.push_back({at, path});
      at += 2;
    }
    const size_t colon = line.find(": ", at);
    const bool opens = colon == std::string::npos && line.back() == ':';
    const std::string key = line.substr(at, (opens ? line.size() - 1 : std::min(colon, line.size())) - at);
    path += path.empty() ? key : "." + key;
    if (opens)
      open.push_back({at, path});
    else
      values[path] = colon == std::string::npos ? "" : line.substr(colon + 2);
  }
  return values;
}

std::vector<std::string> diff_values(const Values& a, const Values& b) {
  std::vector<std::string> lines;
  std::set<std::string> keys;
  for (const auto& [key, value] : a) keys.insert(key);
  for (const auto& [key, value] : b) keys.insert(key);
  for (const std::string& key : keys) {
    const auto in_a = a.find(key), in_b = b.find(key);
    const std::string left = in_a == a.end() ? "(absent)" : in_a->second;
    const std::string right = in_b == b.end() ? "(absent)" : in_b->second;
    if (left != right) lines.push_back(fmt::format("{}: {} against {}", key, left, right));
  }
  return lines;
}

double element(const View& view, int64_t i) {
  switch (view.dtype) {
    case DType::f32:
      return double(view.as<float>()[i]);
    case DType::bf16:
      return double(float(view.as<bf16>()[i]));
    case DType::f64:
      return view.as<double>()[i];
    case DType::i32:
      return double(view.as<int32_t>()[i]);
    case DType::i64:
      return double(view.as<int64_t>()[i]);
    case DType::u8:
      return double(view.as<uint8_t>()[i]);
    case DType::u16:
      return double(view.as<uint16_t>()[i]);
  }
  SHOAL_CHECK(false);
}

struct Loaded {
  std::vector<std::byte> memory;
  View view;
};

Loaded load(CheckpointReader& reader, const CheckpointReader::Entry& entry) {
  Loaded loaded;
  loaded.memory.resize(static_cast<size_t>(entry.shape.numel() * size_of(entry.dtype)));
  loaded.view = View(loaded.memory.data(), entry.dtype, entry.shape);
  reader.read({entry.name, entry.shape, whole(entry.shape), loaded.view});
  return loaded;
}

TensorDifference compare(const std::string& name, const View& a, const View& b) {
  TensorDifference result{name, "", 0, 0, 0, 0, 0};
  for (int64_t i = 0; i < a.numel(); ++i) {
    const double x = element(a, i), y = element(b, i);
    const double apart = x == y || (std::isnan(x) && std::isnan(y)) ? 0 : std::abs(x - y);
    const double larger = std::max(std::abs(x), std::abs(y));
    // A difference that is not a number (a NaN on one side) is larger than any.
    const double absolute = std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
    result.max_abs = std::max(result.max_abs, absolute);
    if (absolute > 0)
      result.max_rel = std::max(result.max_rel, std::isfinite(absolute) ? absolute / larger : absolute);
    result.norm_a += x * x;
    result.norm_b += y * y;
    result.norm_difference += absolute * absolute;
  }
  for (double* norm : {&result.norm_a, &result.norm_b, &result.norm_difference}) *norm = std::sqrt(*norm);
  return result;
}

}  // namespace

std::vector<std::string> diff_specs(const std::string& a, const std::string& b) {
  return diff_values(values_of(a), values_of(b));
}

CheckpointDiff diff_checkpoints(CheckpointReader& a, CheckpointReader& b) {
  CheckpointDiff diff;
  const auto state_of = [](const CheckpointInfo& info) {
    Values values = info.strings;
    values["consumed_samples"] = std::to_string(info.consumed_samples);
    values["step"] = std::to_string(info.step);
    return values;
  };
  diff.state = diff_values(state_of(a.info()), state_of(b.info()));
  diff.spec = diff_specs(a.info().spec_yaml, b.info().spec_yaml);

  std::set<std::string> names;
  for (const auto* reader : {&a, &b}) {
    for (const CheckpointReader::Entry& entry : reader->entries()) names.insert(entry.name);
  }
  for (const std::string& name : names) {
    const CheckpointReader::Entry *in_a = a.find(name), *in_b = b.find(name);
    if (!in_a || !in_b) {
      diff.tensors.push_back({.name = name, .problem = in_a ? "only in the first" : "only in the second"});
    } else if (in_a->dtype != in_b->dtype || !(in_a->shape == in_b->shape)) {
      diff.tensors.push_back(
          {.name = name,
           .problem = fmt::format("{} {} against {} {}", name_of(in_a->dtype), to_string(in_a->shape),
                                  name_of(in_b->dtype), to_string(in_b->shape))});
    } else if (in_a->hash == in_b->hash) {
      ++diff.equal_tensors;
    } else {
      const Loaded left = load(a, *in_a), right = load(b, *in_b);
      diff.tensors.push_back(compare(name, left.view, right.view));
    }
  }
  return diff;
}

}  // namespace shoal
